# In a Makefile: `include kdoctor.mk`.
KDOCTOR ?= kdoctor
KDOCTOR_PATHS ?= .

.PHONY: keras keras-diff keras-fix keras-report

keras: ## What breaks on Keras 3, and why
	$(KDOCTOR) scan $(KDOCTOR_PATHS)

keras-diff: ## The safe fixes as a diff
	$(KDOCTOR) fix $(KDOCTOR_PATHS)

keras-fix: ## Apply the safe fixes
	$(KDOCTOR) fix --apply $(KDOCTOR_PATHS)

# Findings do not make it fail: it is there for its report.
keras-report: ## Findings by rule, and kdoctor.sarif for dashboards
	$(KDOCTOR) scan --statistics --output kdoctor.sarif --exit-zero $(KDOCTOR_PATHS)
