"""How well verdicts and alarms work, measured on streams whose clusters are known."""
