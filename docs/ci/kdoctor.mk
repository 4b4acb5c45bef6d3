# In a Makefile: `include kdoctor.mk`.
KDOCTOR ?= kdoctor
KDOCTOR_PATHS ?= .

.PHONY: keras keras-diff keras-fix keras-report

keras: ## What breaks on Keras 3, and why
	$(KDOCTOR) scan $(KDOCTOR_PATHS)

keras-diff: ## The repair as a diff
	$(KDOCTOR) fix $(KDOCTOR_PATHS)

keras-fix: ## The safe repairs, written
	$(KDOCTOR) fix --apply $(KDOCTOR_PATHS)

# Findings do not fail it: there is a report to look at.
keras-report: ## How often each rule, and a report for dashboards in kdoctor.sarif
	$(KDOCTOR) scan --statistics --output kdoctor.sarif --exit-zero $(KDOCTOR_PATHS)
