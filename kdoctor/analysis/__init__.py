"""What several rules ask about a program. Knows no rule."""
