/**
 * Real Redis servers for tests, and faults that tests cause; never published.
 *
 * <ul>
 *   <li>{@link io.easykit.test.RedisServer}: a server, shared by all tests of a JVM or owned by one test, which may
 *       kill, pause, restart and fail it over;
 *   <li>{@link io.easykit.test.RedisCluster}: a cluster of such servers;
 *   <li>{@link io.easykit.test.TcpProxy}: a connection to a server that loses requests or replies, is slow, frozen or
 *       cut;
 *   <li>{@link io.easykit.test.ChildJvm}: a separate JVM that a test can kill at any time;
 *   <li>{@link io.easykit.test.RawRedis}: access to the keyspace without the client under test;
 *   <li>{@link io.easykit.test.ArchitectureRules}: rules for the classes of all modules;
 *   <li>{@link io.easykit.test.MarkdownLinks}: whether the links of the documentation resolve.
 * </ul>
 *
 * <p>Redis runs in containers if a Docker engine replies, otherwise as processes of the {@code redis-server} on the
 * {@code PATH}, otherwise of the binary in the artifact {@code embedded-redis} (Redis 6.2). If none of them works the
 * tests fail, with the reasons and the remedies. The system property {@code easykit.test.redis} or the environment
 * variable {@code EASYKIT_TEST_REDIS} selects one: {@code docker}, {@code path} or {@code embedded}.
 * {@code easykit.test.redis.image} or {@code EASYKIT_TEST_REDIS_IMAGE} sets another image. Empty values count as not
 * set.
 *
 * <p>All servers end with the JVM at the latest, and several JVMs can run tests at the same time.
 */
@NullMarked
package io.easykit.test;

import org.jspecify.annotations.NullMarked;
