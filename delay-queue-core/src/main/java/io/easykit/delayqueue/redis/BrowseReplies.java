package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Position;
import io.easykit.redis.ListReply;
import java.util.ArrayList;
import java.util.List;

/** Reads the replies of the scripts that page through a place, in the forms that their headers name. */
final class BrowseReplies {

    enum BrowseReply {
        TOTAL,
        RANK
    }

    enum EntryField {
        ID,
        POSITION,
        SCORE,
        STATE,
        LAST_ERROR,
        LENGTH,
        FRAME
    }

    enum TriageReply {
        TOTAL
    }

    enum ErrorField {
        ID,
        POSITION,
        DIED_AT,
        ERROR
    }

    private BrowseReplies() {}

    static Browsed browsed(List<?> list) {
        ListReply reply = ListReply.of(QueueScript.BROWSE.file(), list, BrowseReply.class);
        List<Browsed.Entry> entries = new ArrayList<>();
        for (ListReply entry : reply.groups(EntryField.class)) {
            List<String> damage = new ArrayList<>();
            entries.add(new Browsed.Entry(
                    new Position(entry.text(EntryField.POSITION), entry.text(EntryField.ID)),
                    entry.instant(EntryField.SCORE),
                    Replies.read("state", entry.textOrNull(EntryField.STATE), Replies::history, damage),
                    Replies.read("last error", entry.textOrNull(EntryField.LAST_ERROR), Replies::note, damage),
                    entry.count(EntryField.LENGTH),
                    Bytes.of(entry.bytes(EntryField.FRAME)),
                    damage.isEmpty() ? null : String.join("; ", damage)));
        }
        return new Browsed(reply.number(BrowseReply.TOTAL), reply.number(BrowseReply.RANK), entries);
    }

    static DeadLetterErrors errors(List<?> list) {
        ListReply reply = ListReply.of(QueueScript.TRIAGE.file(), list, TriageReply.class);
        List<DeadLetterErrors.Entry> entries = new ArrayList<>();
        for (ListReply entry : reply.groups(ErrorField.class)) {
            ErrorNote note =
                    Replies.read("error", entry.textOrNull(ErrorField.ERROR), Replies::note, new ArrayList<>());
            entries.add(new DeadLetterErrors.Entry(
                    new Position(entry.text(ErrorField.POSITION), entry.text(ErrorField.ID)),
                    entry.instant(ErrorField.DIED_AT),
                    note == null ? null : note.text()));
        }
        return new DeadLetterErrors(reply.number(TriageReply.TOTAL), entries);
    }
}
