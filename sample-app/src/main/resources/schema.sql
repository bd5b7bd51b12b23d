create table if not exists product (
    id bigint primary key,
    name varchar(200) not null,
    price decimal(12, 2) not null
);

create table if not exists stock (
    sku varchar(60) primary key,
    quantity bigint not null check (quantity >= 0)
);
-- An int could overflow when an unpaid order returns its reservation.
alter table stock alter column quantity bigint not null;

create table if not exists orders (
    id varchar(36) primary key,
    product_id bigint not null,
    quantity int not null,
    status varchar(20) not null,
    expires_at timestamp(3) with time zone not null
);
alter table orders add column if not exists fault varchar(20);

insert into product (id, name, price)
select x, 'Product ' || x, 10 * x
from system_range(1, 10)
where not exists (select 1 from product);

insert into stock (sku, quantity)
select 'SKU-' || x, 100
from system_range(1, 10)
where not exists (select 1 from stock);
