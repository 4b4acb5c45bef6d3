"""Broken environments, built for real, examined, cured by the letter, and examined again."""
