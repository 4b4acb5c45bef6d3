"""Program analysis shared by several rules. Knows no rule."""
