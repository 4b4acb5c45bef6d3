"""Where values come from, where they are used, and where they escape to."""
