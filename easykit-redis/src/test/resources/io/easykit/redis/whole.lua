return total()
