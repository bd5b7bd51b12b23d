package io.easykit.cache.jackson;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageImpl;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.SliceImpl;
import org.springframework.data.domain.Sort;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * Serializes pages, slices, page requests and sorts of Spring Data, which have no constructor that Jackson can use. A
 * subclass defined by the application would be read as the class of Spring Data, so the cache rejects it.
 */
final class SpringDataTypes {

    private static final String CONTENT = "content";
    private static final String PAGE = "page";
    private static final String TOTAL = "total";
    private static final String NEXT = "next";

    private SpringDataTypes() {}

    static SimpleModule module() {
        SimpleModule module = new SimpleModule("easy-cache-spring-data");
        module.addSerializer(Slice.class, new SliceSerializer());
        module.addSerializer(Pageable.class, new FormSerializer<>(Pageable.class) {
            @Override
            Object form(Pageable value) {
                return PageForm.of(value);
            }
        });
        module.addSerializer(Sort.class, new FormSerializer<>(Sort.class) {
            @Override
            Object form(Sort value) {
                return SortForm.of(value);
            }
        });
        module.addDeserializer(Page.class, new SliceDeserializer<>(Page.class, null));
        module.addDeserializer(PageImpl.class, new SliceDeserializer<>(PageImpl.class, null));
        module.addDeserializer(Slice.class, new SliceDeserializer<>(Slice.class, null));
        module.addDeserializer(SliceImpl.class, new SliceDeserializer<>(SliceImpl.class, null));
        module.addDeserializer(Pageable.class, new PageableDeserializer<>(Pageable.class));
        module.addDeserializer(PageRequest.class, new PageableDeserializer<>(PageRequest.class));
        module.addDeserializer(Sort.class, new StdDeserializer<Sort>(Sort.class) {
            @Override
            public Sort deserialize(JsonParser parser, DeserializationContext context) {
                return context.readValue(parser, SortForm.class).toSort();
            }
        });
        return module;
    }

    /**
     * A page request.
     *
     * @param number null if unpaged
     */
    record PageForm(@Nullable Integer number, int size, SortForm sort) {

        static PageForm of(Pageable page) {
            SortForm sort = SortForm.of(page.getSort());
            return page.isPaged()
                    ? new PageForm(page.getPageNumber(), page.getPageSize(), sort)
                    : new PageForm(null, 0, sort);
        }

        Pageable toPageable() {
            return number == null ? Pageable.unpaged(sort.toSort()) : PageRequest.of(number, size, sort.toSort());
        }
    }

    record SortForm(List<OrderForm> orders) {

        static SortForm of(Sort sort) {
            return new SortForm(sort.stream()
                    .map(order -> new OrderForm(
                            order.getDirection(), order.getProperty(), order.isIgnoreCase(), order.getNullHandling()))
                    .toList());
        }

        Sort toSort() {
            return Sort.by(orders.stream().map(OrderForm::toOrder).toList());
        }
    }

    record OrderForm(Sort.Direction direction, String property, boolean ignoreCase, Sort.NullHandling nulls) {

        Sort.Order toOrder() {
            return new Sort.Order(direction, property, ignoreCase, nulls);
        }
    }

    private abstract static class FormSerializer<T> extends StdSerializer<T> {

        FormSerializer(Class<T> type) {
            super(type);
        }

        abstract Object form(T value);

        @Override
        public void serialize(T value, JsonGenerator generator, SerializationContext context) {
            context.writeValue(generator, form(value));
        }
    }

    /** Writes each element separately, so that type ids are included. */
    @SuppressWarnings("rawtypes") // Jackson finds serializers by raw class
    private static final class SliceSerializer extends StdSerializer<Slice> {

        SliceSerializer() {
            super(Slice.class);
        }

        @Override
        public void serialize(Slice value, JsonGenerator generator, SerializationContext context) {
            generator.writeStartObject();
            generator.writeName(PAGE);
            context.writeValue(generator, PageForm.of(value.getPageable()));
            if (value instanceof Page<?> page) {
                generator.writeNumberProperty(TOTAL, page.getTotalElements());
            } else {
                generator.writeBooleanProperty(NEXT, value.hasNext());
            }
            generator.writeArrayPropertyStart(CONTENT);
            for (Object element : value.getContent()) {
                context.writeValue(generator, element);
            }
            generator.writeEndArray();
            generator.writeEndObject();
        }
    }

    @SuppressWarnings("rawtypes") // Jackson finds deserializers by raw class
    private static final class SliceDeserializer<T extends Slice> extends StdDeserializer<T> {

        private final Class<T> type;
        private final @Nullable JavaType content;

        /** @param content type of the list; null if only the property determines it */
        SliceDeserializer(Class<T> type, @Nullable JavaType content) {
            super(type);
            this.type = type;
            this.content = content;
        }

        @Override
        public ValueDeserializer<?> createContextual(DeserializationContext context, @Nullable BeanProperty property) {
            JavaType[] elements = context.getContextualType().findTypeParameters(Slice.class);
            JavaType element = elements.length == 0 ? context.constructType(Object.class) : elements[0];
            return new SliceDeserializer<>(type, context.getTypeFactory().constructCollectionType(List.class, element));
        }

        @Override
        public T deserialize(JsonParser parser, DeserializationContext context) {
            List<?> elements = List.of();
            PageForm page = null;
            Long total = null;
            boolean next = false;
            for (String name = parser.nextName(); name != null; name = parser.nextName()) {
                parser.nextToken();
                switch (name) {
                    case CONTENT -> elements = context.readValue(parser, content);
                    case PAGE -> page = context.readValue(parser, PageForm.class);
                    case TOTAL -> total = parser.getLongValue();
                    case NEXT -> next = parser.getBooleanValue();
                    default -> parser.skipChildren();
                }
            }
            if (page == null) {
                return context.reportInputMismatch(this, "The value is not a slice");
            }
            Pageable pageable = page.toPageable();
            return type.cast(
                    total == null
                            ? new SliceImpl<>(elements, pageable, next)
                            : new PageImpl<>(elements, pageable, total));
        }
    }

    private static final class PageableDeserializer<T extends Pageable> extends StdDeserializer<T> {

        private final Class<T> type;

        PageableDeserializer(Class<T> type) {
            super(type);
            this.type = type;
        }

        @Override
        public T deserialize(JsonParser parser, DeserializationContext context) {
            return type.cast(context.readValue(parser, PageForm.class).toPageable());
        }
    }
}
