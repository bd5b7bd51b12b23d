package io.easykit.delayqueue.jackson;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JavaNamesTests {

    @ParameterizedTest
    @CsvSource({
        "urgent, ''",
        "isUrgent, urgent",
        "_urgent, urgent",
        "mUrgent, urgent",
        "is姓名, 姓名",
        "island, ''",
        "month, ''",
        "m, ''",
        "_, ''"
    })
    void knowsThePropertyOfAField(String field, String property) {
        assertThat(JavaNames.ofField(field)).contains(JavaNames.lower(field)).hasSize(property.isEmpty() ? 1 : 2);
        assertThat(property.isEmpty() || JavaNames.ofField(field).contains(property))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({"getUrgent, urgent", "isUrgent, urgent", "setUrgent, urgent", "withUrgent, urgent", "get姓名, 姓名"})
    void knowsThePropertyOfAMethod(String method, String property) {
        assertThat(JavaNames.ofMethod(method)).containsExactlyInAnyOrder(JavaNames.lower(method), property);
    }
}
