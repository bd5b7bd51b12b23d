package io.easykit.console.queue;

import io.easykit.boot.EnumWords;
import io.easykit.boot.ShownValues;
import io.easykit.console.Audit;
import io.easykit.console.Caller;
import io.easykit.console.ConsoleReply;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.support.Bytes;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** Writes all messages of one state as lines of JSON, whole and unmasked, reading them page by page. */
final class Export {

    private static final Logger log = LoggerFactory.getLogger(Export.class);

    private final DelayQueueAdmin admin;
    private final ShownMessages views;
    private final Scans scans;
    private final Audit audit;
    private final JsonMapper json = JsonMapper.builder().build();

    Export(DelayQueueAdmin admin, ShownMessages views, Scans scans, Audit audit) {
        this.admin = admin;
        this.views = views;
        this.scans = scans;
        this.audit = audit;
    }

    /** @param group key of the group of errors, or null for all messages */
    ConsoleReply reply(String topic, State state, @Nullable String group, Caller caller) {
        scans.requireFree();
        admin.stats(topic); // An error is a reply; after the first line it could only be a line.
        String word = EnumWords.of(state);
        audit.read("export", caller, topic, List.of(), group == null ? word : word + ", group " + group);
        String file = topic.replaceAll("[^A-Za-z0-9._-]", "_") + "-" + word + ".ndjson";
        return ConsoleReply.attachment(file, "application/x-ndjson", out -> scan(topic, state, group, out));
    }

    private void scan(String topic, State state, @Nullable String group, OutputStream out) throws IOException {
        try {
            scans.run(() -> {
                write(topic, state, group, out);
                return true;
            });
        } catch (UncheckedIOException gone) {
            throw gone.getCause();
        } catch (DelayQueueException | Refusal | IllegalArgumentException incomplete) {
            // An invalid cursor: shards were added to the topic, and pages of many shards take another kind of cursor.
            line(incomplete(String.valueOf(incomplete.getMessage())), out);
        } catch (RuntimeException failure) {
            log.warn("A request of the console failed: {} {}", "GET", "/api/export", failure);
            line(incomplete("The log of this node has the reason."), out);
        }
    }

    private static Map<String, Object> incomplete(String why) {
        return Map.of("error", "The export is incomplete: " + why);
    }

    private void write(String topic, State state, @Nullable String group, OutputStream out) {
        MessageQuery query = MessageQuery.of(state).size(DelayQueueAdmin.MAX_PAGE);
        Set<String> refused = new LinkedHashSet<>();
        String cursor = null;
        do {
            MessagePage page = admin.messages(topic, query.after(cursor));
            refused.addAll(page.refused());
            for (MessageSummary summary : page.messages()) {
                if (group == null || QueueApi.isOf(summary.group(), group)) {
                    admin.find(topic, summary.id())
                            .filter(detail -> detail.message().state() == state)
                            .ifPresent(detail -> line(message(detail), out));
                }
            }
            cursor = page.next();
        } while (cursor != null);
        if (!refused.isEmpty()) {
            line(incomplete(String.join(" ", refused)), out);
        }
    }

    private Map<String, Object> message(MessageDetail detail) {
        MessageInfo message = detail.message();
        Map<String, @Nullable Object> line = views.found(detail);
        line.put("failures", message.failures());
        line.put("leaseExpirations", message.leaseExpirations());
        ErrorNote error = message.lastError();
        line.put("error", error == null ? null : error.text());
        line.put("headers", message.headers());
        Bytes body = detail.isCut()
                ? admin.body(message.topic(), new MessageRef(message.id(), detail.incarnation()))
                        .orElse(null)
                : message.body();
        String text = body == null ? null : ShownValues.text(body.array());
        if (body != null && text == null) {
            line.put("bodyBase64", Base64.getEncoder().encodeToString(body.array()));
        } else {
            line.put("body", text);
        }
        return line;
    }

    private void line(Map<String, Object> line, OutputStream out) {
        try {
            out.write(json.writeValueAsBytes(line));
            out.write('\n');
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
