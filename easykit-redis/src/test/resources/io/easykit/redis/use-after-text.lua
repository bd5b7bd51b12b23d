return 'a'..total()..'b'
