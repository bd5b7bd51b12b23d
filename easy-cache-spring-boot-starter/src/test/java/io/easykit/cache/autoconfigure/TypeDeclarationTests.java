package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.Declarations.User;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.Resource;
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

    static class FutureType {
        @Cacheable(prefix = "user", keys = "#id")
        public CompletableFuture<User> find(long id) {
            return CompletableFuture.completedFuture(new User(id, ""));
        }
    }

    @Test
    void refusesAFuture() {
        refuses(FutureType.class, "find(long)", "asynchronous", "returns the plain value");
    }

    static class MonoUpdate {
        @UpdateCache(prefix = "user", keys = "#id")
        public Mono<User> update(long id) {
            return Mono.empty();
        }
    }

    @Test
    void refusesAReactiveUpdate() {
        refuses(MonoUpdate.class, "update(long)", "asynchronous", "returns the plain value");
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
