"""How long rows stay: pruning by age, and the export and deletion of what belongs to one owner."""
