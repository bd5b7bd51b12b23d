package io.easykit.console;

import io.easykit.console.ConsoleApi.Done;
import io.easykit.console.ConsoleApi.Planned;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/** Serves the console: its page, and its API. Knows no web framework. */
public final class Console {

    /** Largest body of a change, in bytes. */
    static final int MAX_BODY = 1 << 20;

    private static final String API = "/api/";

    private static final Logger log = LoggerFactory.getLogger(Console.class);

    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
            + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types 'none'";

    private static final int AUDIT_PAGE = 50;
    private static final int MAX_PAGE = 100;

    private final ConsoleAccess access;
    private final ConsoleInfo info;
    private final List<ConsoleApi> apis;
    private final Audit audit;
    private final ConsoleMeters meters;
    private final Assets assets = new Assets();
    private final JsonMapper json = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .addModule(new SimpleModule().addSerializer(EnglishText.class, new TextSerializer()))
            .build();
    private final Map<String, ConsoleApi.Read> reads = new LinkedHashMap<>();
    private final Map<String, ConsoleApi.Change> changes = new LinkedHashMap<>();

    public Console(ConsoleAccess access, ConsoleInfo info, List<ConsoleApi> apis, Audit audit, ConsoleMeters meters) {
        this.access = access;
        this.info = info;
        this.apis = List.copyOf(apis);
        this.audit = audit;
        this.meters = meters;
        reads.put("session", this::session);
        reads.put("audit", this::audit);
        for (ConsoleApi api : apis) {
            reads.putAll(api.reads());
            changes.putAll(api.changes());
        }
    }

    /** Answers a request. Throws only errors of the virtual machine, except for a stack overflow. */
    public ConsoleReply handle(ConsoleRequest request) {
        ConsoleReply reply;
        try {
            reply = answer(request);
        } catch (Refusal refusal) {
            reply = refused(request, refusal);
        } catch (IllegalArgumentException wrong) {
            reply = refused(request, new Refusal(400, String.valueOf(wrong.getMessage()), "Correct the request."));
        } catch (RuntimeException | IOException | Error failure) {
            if (failure instanceof VirtualMachineError broken && !(failure instanceof StackOverflowError)) {
                throw broken;
            }
            log.warn("A request of the console failed: {} {}", request.method(), request.path(), failure);
            reply = refused(
                    request, new Refusal(500, "The request failed.", "Look for the reason in the log of this node."));
        }
        if (request.path().startsWith(API)) {
            meters.count(ConsoleMeters.REQUESTS, action(request), outcome(reply.status()));
            reply = reply.with("X-Easykit-Now", String.valueOf(now()));
        }
        return reply.with("Content-Security-Policy", POLICY)
                .with("X-Content-Type-Options", "nosniff")
                .with("Referrer-Policy", "no-referrer")
                .with("Cross-Origin-Opener-Policy", "same-origin")
                .with("Cross-Origin-Resource-Policy", "same-origin")
                .with("X-Robots-Tag", "noindex")
                .with("Cache-Control", "no-store");
    }

    /** Whether {@link #handle} reads the body of a request: that of a change which its user may make. */
    public boolean readsBody(ConsoleRequest request) {
        if (!request.method().equals("POST") || !changes.containsKey(action(request))) {
            return false;
        }
        try {
            access.requireChange(request, access.admit(request));
            return true;
        } catch (RuntimeException refused) {
            return false;
        }
    }

    /** One of the names that are known, so that requests cannot make meters. */
    private String action(ConsoleRequest request) {
        String path = request.path();
        String name = path.startsWith(API) ? path.substring(API.length()) : "";
        return reads.containsKey(name) || changes.containsKey(name) ? name : "other";
    }

    private static String outcome(int status) {
        return status < 400 ? "done" : status < 500 ? "refused" : "failed";
    }

    private ConsoleReply answer(ConsoleRequest request) throws IOException {
        String path = request.path();
        if (path.isEmpty()) {
            // Relative, so that it holds behind any proxy.
            return ConsoleReply.empty(308)
                    .with("Location", info.path().substring(info.path().lastIndexOf('/') + 1) + "/");
        }
        Caller caller = admitted(request);
        boolean gets = request.method().equals("GET");
        if (path.startsWith(API)) {
            String name = path.substring(API.length());
            return gets ? read(name, request, caller) : change(name, request, caller);
        }
        ConsoleReply asset = gets || request.method().equals("HEAD") ? assets.find(path, request) : null;
        if (asset == null) {
            throw new Refusal(404, "There is no such page.", "Open the console's first page.");
        }
        return asset;
    }

    /** The user of the request. A change of a stranger is recorded. */
    private Caller admitted(ConsoleRequest request) {
        try {
            return access.admit(request);
        } catch (Refusal refusal) {
            String action = action(request);
            if (request.method().equals("POST") && changes.containsKey(action)) {
                audit.refused(action, Caller.stranger(request), null, refusal);
            }
            throw refusal;
        }
    }

    private ConsoleReply read(String name, ConsoleRequest request, Caller caller) {
        ConsoleApi.Read read = reads.get(name);
        if (read == null) {
            throw new Refusal(404, "There is no such call.", "Load the page again: the node may have another version.");
        }
        access.requireOwnRead(request);
        Object answer = read.answer(request, caller);
        if (answer instanceof ConsoleReply reply) {
            return reply;
        }
        byte[] timeless = written(signed((Map<?, ?>) answer), request);
        String tag = Assets.tag(timeless);
        String known = request.header("If-None-Match");
        ConsoleReply reply = known != null && known.contains(tag)
                ? ConsoleReply.empty(304)
                : ConsoleReply.of(200, "application/json", timed(timeless));
        return reply.with("ETag", tag);
    }

    /** The reply with the name of the node first. */
    private Map<String, Object> signed(Map<?, ?> answer) {
        Map<String, Object> signed = new LinkedHashMap<>();
        signed.put("node", info.node());
        answer.forEach((name, value) -> signed.put(String.valueOf(name), value));
        return signed;
    }

    /** The time stands in front of a reply, so that its tag depends on the rest alone. */
    private byte[] timed(byte[] timeless) {
        byte[] begin = ("{\"now\":" + now() + ",").getBytes(StandardCharsets.UTF_8);
        byte[] all = Arrays.copyOf(begin, begin.length + timeless.length - 1);
        System.arraycopy(timeless, 1, all, begin.length, timeless.length - 1);
        return all;
    }

    private long now() {
        return apis.stream()
                .map(ConsoleApi::now)
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(System::currentTimeMillis);
    }

    private ConsoleReply change(String name, ConsoleRequest request, Caller caller) throws IOException {
        ConsoleApi.Change change = changes.get(name);
        if (!request.method().equals("POST") || change == null) {
            throw new Refusal(
                    404, "There is no such change.", "Load the page again: the node may have another version.");
        }
        Input input = null;
        String note;
        Planned planned;
        try {
            access.requireChange(request, caller);
            input = input(request);
            note = note(input);
            planned = change.plan(input, caller);
        } catch (RuntimeException refusal) {
            audit.refused(name, caller, input, refusal);
            throw refusal;
        }
        Done done;
        try {
            done = audit.around(name, caller, planned, note);
        } finally {
            apis.forEach(ConsoleApi::changed);
        }
        return ConsoleReply.of(done.status(), "application/json", timed(written(signed(done.reply()), request)));
    }

    private static String note(Input input) {
        String note = input.text("note");
        if (note != null && note.length() > Audit.MAX_NOTE) {
            throw new Refusal(
                    400, "The note is longer than " + Audit.MAX_NOTE + " characters.", "Write a shorter one.");
        }
        return note == null ? "" : note;
    }

    private Input input(ConsoleRequest request) throws IOException {
        byte[] body = request.body().read(MAX_BODY + 1);
        if (body.length > MAX_BODY) {
            throw new Refusal(413, "The change is larger than 1 MB.", "Send less.");
        }
        try {
            Map<?, ?> fields = json.readValue(body, Map.class);
            if (fields != null) {
                return new Input(fields);
            }
        } catch (JacksonException invalid) {
            log.debug("A change was not JSON", invalid);
        }
        throw new Refusal(400, "The body is not a JSON object.", "Correct it.");
    }

    private Map<String, Object> audit(ConsoleRequest request, Caller caller) {
        int size = request.number("size", AUDIT_PAGE, 1, MAX_PAGE);
        return audit.page(request.parameter("after"), size, caller);
    }

    private Map<String, Object> session(ConsoleRequest request, Caller caller) {
        Map<String, @Nullable Object> session = new LinkedHashMap<>();
        session.put("user", request.user());
        session.put("csrf", token(request));
        session.put("openTo", access.mode() == ConsoleAccess.Mode.EVERYONE ? "everyone" : null);
        session.put("readOnly", access.readOnly());
        session.put("label", info.label());
        session.put("color", info.color());
        session.put(
                "links",
                info.links().stream()
                        .map(link -> Map.of("label", link.label(), "href", link.href()))
                        .toList());
        session.put("versions", info.versions());
        TreeSet<String> features = new TreeSet<>(List.of("audit"));
        apis.forEach(api -> features.addAll(api.features()));
        if (!caller.savesBodies()) {
            features.removeAll(ConsoleApi.FOR_BODIES);
        }
        if (!caller.searches()) {
            features.remove(ConsoleApi.FOR_SEARCHES);
        }
        session.put("features", features);
        session.put("actions", caller.changes() ? changes.keySet() : List.of());
        return session;
    }

    private static @Nullable Map<String, Object> token(ConsoleRequest request) {
        ConsoleRequest.CsrfToken token = request.csrf().get();
        if (token == null) {
            return null;
        }
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("header", token.header());
        shown.put("token", token.token());
        return shown;
    }

    private ConsoleReply refused(ConsoleRequest request, Refusal refusal) {
        if (!request.path().startsWith(API)) {
            return ConsoleReply.text(refusal.status(), refusal.reason() + "\n" + refusal.action() + "\n");
        }
        Map<String, @Nullable Object> problem = new LinkedHashMap<>();
        problem.put("status", refusal.status());
        problem.put("detail", new EnglishText(refusal.reason()));
        problem.put("action", new EnglishText(refusal.action()));
        problem.put("kind", refusal.kind());
        problem.put("node", info.node());
        return ConsoleReply.of(refusal.status(), "application/problem+json", written(problem, request));
    }

    private byte[] written(Map<String, ?> reply, ConsoleRequest request) {
        boolean chinese = Translations.isChinese(request.header("Accept-Language"));
        return json.writer().withAttribute(TextSerializer.CHINESE, chinese).writeValueAsBytes(reply);
    }

    /** Writes texts in the language that the client asks for. */
    private static final class TextSerializer extends ValueSerializer<EnglishText> {

        static final String CHINESE = "chinese";

        private final Translations translations = new Translations();

        @Override
        public void serialize(EnglishText text, JsonGenerator to, SerializationContext context) {
            boolean chinese = Boolean.TRUE.equals(context.getAttribute(CHINESE));
            to.writeString(chinese ? translations.chinese(text.english()) : text.english());
        }
    }
}
