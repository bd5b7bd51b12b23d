/**
 * Real Redis servers for tests, and the faults that tests bring upon them; never published.
 *
 * <ul>
 *   <li>{@link io.easykit.test.RedisServer}: one server, shared by all tests of a JVM or owned by one test, which may
 *       kill, pause, restart and fail it over;
 *   <li>{@link io.easykit.test.RedisCluster}: a cluster of such servers;
 *   <li>{@link io.easykit.test.TcpProxy}: a line to a server that loses requests or replies, is slow, frozen or cut;
 *   <li>{@link io.easykit.test.ChildJvm}: a JVM beside the test's own, to be killed in the middle of its work;
 *   <li>{@link io.easykit.test.RawRedis}: a look at the keyspace without the client that is under test;
 *   <li>{@link io.easykit.test.ArchitectureRules}: what holds for the classes of all modules;
 *   <li>{@link io.easykit.test.MarkdownLinks}: whether the links of the documentation resolve.
 * </ul>
 *
 * <p>Redis runs in containers where a Docker engine answers, otherwise as processes of the {@code redis-server} on the
 * {@code PATH}, otherwise of the binary that the artifact {@code embedded-redis} carries (Redis 6.2). Where none of
 * them works the tests fail, with the reasons and the remedies. The system property {@code easykit.test.redis} or the
 * environment variable {@code EASYKIT_TEST_REDIS} forces one: {@code docker}, {@code path} or {@code embedded};
 * {@code easykit.test.redis.image} or {@code EASYKIT_TEST_REDIS_IMAGE} names another image. Empty ones count
 * as unset.
 *
 * <p>Everything that runs here ends with the JVM at the latest, and several JVMs can run tests side by side.
 */
@NullMarked
package io.easykit.test;

import org.jspecify.annotations.NullMarked;
