"""``python -m kdoctor``."""

from kdoctor.cli.app import main

main()
