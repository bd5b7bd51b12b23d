package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.Declarations.User;
import java.io.InputStream;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.Resource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Types that cannot be cached, with the reported method and remedy. */
class TypeDeclarationTests {

    static class VoidType {
        @Cacheable(prefix = "user", keys = "#id")
        public void find(long id) {}
    }

    @Test
    void refusesVoid() {
        refuses(VoidType.class, "find(long)", "returns nothing", "Return a value");
    }

    static class StreamType {
        @Cacheable(prefix = "user", keys = "#id")
        public Stream<User> find(long id) {
            return Stream.of();
        }
    }

    @Test
    void refusesAStream() {
        refuses(StreamType.class, "find(long)", "java.util.stream.Stream can be read once only", "a list");
    }

    static class IteratorType {
        @Cacheable(prefix = "user", keys = "#id")
        public Iterator<User> find(long id) {
            return List.<User>of().iterator();
        }
    }

    @Test
    void refusesAnIterator() {
        refuses(IteratorType.class, "find(long)", "java.util.Iterator can be read once only", "a list");
    }

    static class InputStreamType {
        @Cacheable(prefix = "user", keys = "#id")
        public Optional<InputStream> find(long id) {
            return Optional.empty();
        }
    }

    @Test
    void refusesAnInputStreamInsideAnOptional() {
        refuses(InputStreamType.class, "find(long)", "java.io.InputStream can be read once only", "byte[]");
    }

    static class ResourceType {
        @Cacheable(prefix = "user", keys = "#id")
        public Resource find(long id) {
            throw new AssertionError();
        }
    }

    @Test
    void refusesAResource() {
        refuses(ResourceType.class, "find(long)", "Resource can be read once only", "byte[]");
    }

    static class BareFuture {
        @Cacheable(prefix = "user", keys = "#id")
        public Future<User> find(long id) {
            return CompletableFuture.completedFuture(new User(id, ""));
        }
    }

    static class OwnFuture extends CompletableFuture<User> {}

    static class SelfTypedFuture {
        @Cacheable(prefix = "user", keys = "#id")
        public OwnFuture find(long id) {
            return new OwnFuture();
        }
    }

    static class ManyValues {
        @Cacheable(prefix = "user", keys = "#id")
        public Flux<User> find(long id) {
            return Flux.empty();
        }
    }

    static class ManyUpdates {
        @UpdateCache(prefix = "user", keys = "#id")
        public Flux<User> update(long id) {
            return Flux.empty();
        }
    }

    static class ManyBatch {
        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Flux<User> find(List<Long> ids) {
            return Flux.empty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {BareFuture.class, SelfTypedFuture.class, ManyValues.class, ManyUpdates.class, ManyBatch.class})
    void refusesAnAsynchronousMethodWithoutOneValue(Class<?> bean) {
        refuses(bean, "(", "does not return one value", "Return a CompletableFuture or a Mono");
    }

    static class FutureOfNothing {
        @Cacheable(prefix = "user", keys = "#id")
        public CompletableFuture<Void> find(long id) {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Test
    void refusesAFutureOfNothing() {
        refuses(FutureOfNothing.class, "find(long)", "returns nothing", "Return a value");
    }

    static class FutureOfFuture {
        @Cacheable(prefix = "user", keys = "#id")
        public Mono<CompletableFuture<User>> find(long id) {
            return Mono.empty();
        }
    }

    @Test
    void refusesAFutureInsideAPublisher() {
        refuses(FutureOfFuture.class, "find(long)", "is an asynchronous value", "plain value");
    }

    static class RawFuture {
        @Cacheable(prefix = "user", keys = "#id")
        @SuppressWarnings("rawtypes") // the mistake
        public CompletableFuture find(long id) {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Test
    void refusesAFutureOfAnUnknownType() {
        refuses(RawFuture.class, "find(long)", "cannot be restored from the type", "Declare the type");
    }

    static class OtherTypeLater {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable(prefix = "user", keys = "#id")
        public Mono<String> findLater(long id) {
            return Mono.empty();
        }
    }

    @Test
    void refusesAnotherTypeInAFutureOfTheSamePrefix() {
        refuses(OtherTypeLater.class, "neither could read what the other stores", "Use another prefix");
    }

    static class SelfBounded {
        @Cacheable(prefix = "user", keys = "#name")
        public <T extends Comparable<T>> List<T> top(String name) {
            return List.of();
        }
    }

    static class BoundedBelow {
        @Cacheable(prefix = "user", keys = "#name")
        public <T extends Comparable<? super T>> List<T> top(String name) {
            return List.of();
        }
    }

    static class RawEnumMap {
        @Cacheable(prefix = "user", keys = "#name")
        @SuppressWarnings("rawtypes") // it is tested
        public EnumMap top(String name) {
            throw new AssertionError();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SelfBounded.class, BoundedBelow.class, RawEnumMap.class})
    void refusesATypeWhoseBoundNamesItselfAndThatCannotBeRestored(Class<?> bean) {
        refuses(bean, "top(String)", "can be written but not read again", "Return a record");
    }

    record Node<E extends Node<E>>(String name) {}

    record Tree<E extends Node<E>>(List<E> nodes) {}

    static class Trees {
        @Cacheable(prefix = "tree", keys = "#name")
        public <E extends Node<E>> Tree<E> find(String name) {
            return new Tree<E>(List.of());
        }
    }

    @Test
    void takesATypeWhoseBoundNamesItself() {
        Declarations.application().withBean(Trees.class).run(context -> assertThat(context)
                .hasNotFailed());
    }

    static class Untyped<T> {
        @Cacheable(prefix = "user", keys = "#id")
        public T find(long id) {
            throw new AssertionError();
        }
    }

    @Test
    void refusesATypeThatNobodyKnows() {
        refuses(Untyped.class, "find(long)", "cannot be restored from the type 'T'", "Declare the type");
    }
}
