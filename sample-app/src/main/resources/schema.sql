create table if not exists product (
    id bigint primary key,
    name varchar(200) not null,
    price decimal(12, 2) not null
);

create table if not exists stock (
    sku varchar(60) primary key,
    quantity int not null check (quantity >= 0)
);

insert into product (id, name, price)
select x, 'Product ' || x, 10 * x
from system_range(1, 10)
where not exists (select 1 from product);

insert into stock (sku, quantity)
select 'SKU-' || x, 100
from system_range(1, 10)
where not exists (select 1 from stock);
