package io.easykit.test;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A self-signed certificate for servers on 127.0.0.1, created once for each JVM.
 *
 * <p>A server, cluster or group of sentinels started with {@link #options()} listens with TLS only, and also uses it
 * internally.
 */
public final class TlsCertificate {
    private static final String CERTIFICATE_OPTION = "--tls-cert-file";
    private static final String ALIAS = "redis";
    private static final char[] PASSWORD = "changeit".toCharArray();

    private final Path certificate;
    private final Path key;
    private final SSLContext context;

    private TlsCertificate(Path certificate, Path key, SSLContext context) {
        this.certificate = certificate;
        this.key = key;
        this.context = context;
    }

    public static TlsCertificate shared() {
        return Shared.CERTIFICATE;
    }

    /** Returns the certificate in PEM format, for a client to trust. */
    public Path certificate() {
        return certificate;
    }

    /** Returns options of redis-server. */
    public String[] options() {
        return new String[] {
            CERTIFICATE_OPTION,
            certificate.toString(),
            "--tls-key-file",
            key.toString(),
            "--tls-ca-cert-file",
            certificate.toString(),
            "--tls-auth-clients",
            "no",
            "--tls-replication",
            "yes"
        };
    }

    static boolean isUsedBy(List<String> arguments) {
        return arguments.contains(CERTIFICATE_OPTION);
    }

    SSLContext context() {
        return context;
    }

    private static TlsCertificate make() {
        try {
            Path directory = Files.createTempDirectory("easykit-tls-");
            Path store = directory.resolve("store.p12");
            generate(store);
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD);
            }
            Path certificate =
                    pem(directory, "CERTIFICATE", keys.getCertificate(ALIAS).getEncoded());
            Path key =
                    pem(directory, "PRIVATE KEY", keys.getKey(ALIAS, PASSWORD).getEncoded());
            for (Path file : List.of(directory, store, certificate, key)) {
                file.toFile().deleteOnExit();
            }
            return new TlsCertificate(certificate, key, contextThatTrusts(keys));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot create a certificate", e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot create a certificate", e);
        }
    }

    /** The JDK has no public API that creates certificates, so this runs keytool. */
    private static void generate(Path store) throws IOException {
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=easykit test",
                        "-ext",
                        "SAN=IP:127.0.0.1,DNS:localhost",
                        "-validity",
                        "30",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        String.valueOf(PASSWORD))
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes(), US_ASCII);
        try {
            if (!keytool.waitFor(60, SECONDS) || keytool.exitValue() != 0) {
                throw new IOException("keytool failed: " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while keytool ran", e);
        }
    }

    private static Path pem(Path directory, String kind, byte[] encoded) throws IOException {
        String text = "-----BEGIN " + kind + "-----\n"
                + Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(encoded) + "\n-----END " + kind
                + "-----\n";
        return Files.writeString(directory.resolve(kind.toLowerCase(Locale.ROOT).replace(' ', '-')), text);
    }

    private static SSLContext contextThatTrusts(KeyStore keys) throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(ALIAS, keys.getCertificate(ALIAS));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    private static final class Shared {
        static final TlsCertificate CERTIFICATE = make();
    }
}
