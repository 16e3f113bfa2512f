"""What ratings say about order: best ranks, groups, who is first, and how easily that changes."""
