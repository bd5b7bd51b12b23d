-- It isn't total().
return 'total()' .. "isn't total()" .. string.total(subtotal) -- total
