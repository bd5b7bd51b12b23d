package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.Declarations.User;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Batches that fail the start of an application, with the reported method and remedy. */
class BatchDeclarationTests {

    static class BatchOfOne {
        @Cacheable(prefix = "user", keys = "#id", batch = true)
        public Map<Long, User> find(long id) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchOfWhatHasNoElements() {
        refuses(
                BatchOfOne.class,
                "find(long)",
                "batch = true, but #id is a long",
                "Declare the elements as a Collection");
    }

    static class BatchOfExpression {
        @Cacheable(prefix = "user", keys = "#users.![id]", batch = true)
        public Map<Long, User> find(List<User> users) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchReadOverAnExpression() {
        refuses(BatchOfExpression.class, "find(List)", "is not one parameter with elements", "keys = \"#ids\"");
    }

    static class BatchWithoutOrder {
        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Set<User> find(List<Long> ids) {
            return Set.of();
        }
    }

    @Test
    void refusesABatchWhoseValuesBelongToNoElement() {
        refuses(BatchWithoutOrder.class, "find(List)", "no value belongs to an element", "return a Map from element");
    }

    static class BatchOfOtherKeys {
        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Map<Integer, User> find(long... ids) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchWhoseMapHasOtherKeys() {
        refuses(
                BatchOfOtherKeys.class,
                "java.lang.Long and the keys of the returned map of java.lang.Integer",
                "same type");
    }

    static class BatchUnless {
        @Cacheable(prefix = "user", keys = "#ids", batch = true, unless = "#result == null")
        public Map<Long, User> find(List<Long> ids) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchWithUnless() {
        refuses(BatchUnless.class, "find(List)", "a batch has no single #result", "Remove unless");
    }

    static class BatchOfArrays {
        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Map<long[], User> find(List<long[]> ids) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchOfElementsWithoutAText() {
        refuses(BatchOfArrays.class, "the elements of '#ids' are of long[]", "Use their ids");
    }

    static class BatchUpdateOfOne {
        @UpdateCache(prefix = "user", keys = "#id", batch = true)
        public void update(long id) {}
    }

    @Test
    void refusesABatchUpdateOfWhatHasNoElements() {
        refuses(
                BatchUpdateOfOne.class,
                "update(long)",
                "'#id' in keys is a long, which has no elements",
                "remove batch");
    }

    static class BatchUpdateOfParts {
        @UpdateCache(
                prefix = "user",
                keys = {"#ids", "#name"},
                batch = true)
        public void update(List<Long> ids, String name) {}
    }

    @Test
    void refusesABatchUpdateOfSeveralParts() {
        refuses(BatchUpdateOfParts.class, "keys has 2 parts", "#users.![id]");
    }
}
