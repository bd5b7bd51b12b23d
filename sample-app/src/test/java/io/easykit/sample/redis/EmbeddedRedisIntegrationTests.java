package io.easykit.sample.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedRedisIntegrationTests {

    @TempDir
    Path directory;

    @Test
    void endsWithTheShopAlsoWhenItsDirectoryWasCleared() throws Exception {
        EmbeddedRedis redis = EmbeddedRedis.start(directory);
        new Socket(InetAddress.getLoopbackAddress(), redis.port()).close();
        assertThat(Files.deleteIfExists(directory.resolve("redis.pid"))).isTrue();

        redis.close();

        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), redis.port()))
                .isInstanceOf(ConnectException.class);
    }
}
