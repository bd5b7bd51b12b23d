package io.easykit.delayqueue.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.easykit.delayqueue.PayloadCodec.PayloadType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.annotation.JsonNaming;

/** Values of a subclass of what their property declares. */
class SubclassTests {

    private final JacksonPayloadCodec codec = new JacksonPayloadCodec();

    static class Pay {

        public int amount;
    }

    static final class Card extends Pay {

        public String number = "";
    }

    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    static final class Snake extends Pay {

        private String cardNumber = "";

        public String getCardNumber() {
            return cardNumber;
        }

        public void setCardNumber(String cardNumber) {
            this.cardNumber = cardNumber;
        }
    }

    @JsonDeserialize(as = Circle.class)
    interface Form {}

    static final class Circle implements Form {

        public int radius;
    }

    static final class Square implements Form {

        public int side;
    }

    static final class OrderException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public int code;
    }

    static final class Unwrapped {

        @JsonUnwrapped(prefix = "pay_")
        public Pay pay = new Card();
    }

    /** The unwrapped property is two levels deep. */
    static final class Outer {

        @JsonUnwrapped(prefix = "outer_")
        public Unwrapped unwrapped = new Unwrapped();
    }

    record Order(Pay pay) {}

    record Drawing(Form form) {}

    record Failed(Exception error) {}

    record Cart(Total total) {}

    @JsonDeserialize(builder = TotalBuilder.class)
    static class Total {

        public int amount = 1;

        /** Computed. */
        public int gross = 2;
    }

    @JsonIgnoreProperties("gross")
    static final class TotalBuilder {

        private final Total total = new Total();

        public TotalBuilder withAmount(int amount) {
            total.amount = amount;
            return this;
        }

        public Total build() {
            return total;
        }
    }

    static class Shape2 {

        public int id;
    }

    static final class Square2 extends Shape2 {

        public int side;
    }

    record Keeper(@JsonDeserialize(as = Square2.class) Shape2 shape) {}

    record Report(int id, @JsonProperty(access = JsonProperty.Access.READ_ONLY) Pay shown) {}

    static List<Object> cut() {
        return List.of(
                new Order(new Card()), new Order(new Snake()), new Unwrapped(), new Outer(), new Drawing(new Square()));
    }

    @ParameterizedTest
    @MethodSource("cut")
    void areRefusedIfTheyHaveMoreFields(Object payload) {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> codec.encode(payload))
                    .hasMessageContaining("would arrive as a ")
                    .hasMessageContaining("without its ");
        }
    }

    static final class Shown extends Pay {

        @JsonIgnore
        private String cached = "";

        public String getDisplay() {
            return "amount " + amount + cached;
        }
    }

    record Event<T extends Pay>(T body) {}

    static List<Object> complete() {
        Unwrapped unwrapped = new Unwrapped();
        unwrapped.pay = new Pay();
        return List.of(
                new Order(new Shown()),
                unwrapped,
                new Drawing(new Circle()),
                new Failed(new IllegalStateException("late")),
                new Failed(new OrderException()),
                new Cart(new Total()),
                new Keeper(new Square2()),
                new Report(1, new Card()),
                new Event<>(new Card()));
    }

    @ParameterizedTest
    @MethodSource("complete")
    void areTakenIfNoFieldIsLost(Object payload) {
        assertThat(codec.decode(codec.encode(payload), payload.getClass())).isNotNull();
    }

    @Test
    void arriveCompleteWhereTheListenerDeclaresTheTypeOfAVariable() {
        Card card = new Card();
        card.number = "4111";

        Object read = codec.decode(codec.encode(new Event<>(card)), new PayloadType<Event<Card>>() {}.type());

        assertThat(((Event<?>) read).body()).isInstanceOfSatisfying(Card.class, body -> assertThat(body.number)
                .isEqualTo("4111"));
    }
}
