MORE = 'and more'
