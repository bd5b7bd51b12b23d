package io.easykit.delayqueue.jdbc;

import io.easykit.delayqueue.store.SendOutbox.Lease;
import io.easykit.delayqueue.store.SendOutbox.Owner;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The leases of owners of rows, in a table beside that of the rows. */
final class SendOutboxLeases {

    private static final String TABLE = JdbcSendOutbox.TABLE;

    private static final String OWNERS = "select o.owner, l.holder, l.renewals from (select distinct owner from "
            + TABLE + " where queue = ? union select owner from " + TABLE + "_lease where queue = ?) o left join "
            + TABLE
            + "_lease l on l.queue = ? and l.owner = o.owner";

    private static final String NEW_LEASE =
            "insert into " + TABLE + "_lease (queue, owner, holder, renewals) values (?, ?, ?, 0)";

    private static final String TAKE_LEASE = "update " + TABLE + "_lease set holder = ?, renewals = renewals + 1"
            + " where queue = ? and owner = ? and holder = ? and renewals = ?";

    private static final String RENEW =
            "update " + TABLE + "_lease set renewals = renewals + 1 where queue = ? and owner = ? and holder = ?";

    private static final String RELEASE =
            "delete from " + TABLE + "_lease where queue = ? and owner = ? and holder = ?";

    private final SendOutboxConnections connections;
    private final String queue;

    SendOutboxLeases(SendOutboxConnections connections, String queue) {
        this.connections = connections;
        this.queue = queue;
    }

    List<Owner> owners() {
        return connections.own(connection -> {
            try (PreparedStatement select = JdbcSendOutbox.prepare(connection, OWNERS, queue, queue, queue);
                    ResultSet found = select.executeQuery()) {
                List<Owner> owners = new ArrayList<>();
                while (found.next()) {
                    String holder = found.getString(2);
                    owners.add(
                            new Owner(found.getString(1), holder == null ? null : new Lease(holder, found.getLong(3))));
                }
                return owners;
            }
        });
    }

    boolean take(String owner, String holder, @Nullable Lease seen) {
        if (seen == null) {
            return takeNew(owner, holder);
        }
        return connections.own(connection -> {
            try (PreparedStatement take =
                    JdbcSendOutbox.prepare(connection, TAKE_LEASE, holder, queue, owner, seen.holder())) {
                take.setLong(5, seen.renewals());
                return take.executeUpdate() == 1;
            }
        });
    }

    private boolean takeNew(String owner, String holder) {
        return connections.own(connection -> {
            try (PreparedStatement insert = JdbcSendOutbox.prepare(connection, NEW_LEASE, queue, owner, holder)) {
                return insert.executeUpdate() == 1;
            } catch (SQLException failed) {
                String state = failed.getSQLState();
                if (state != null && state.startsWith("23")) {
                    return false; // another process has it
                }
                throw failed;
            }
        });
    }

    boolean renew(String owner, String holder) {
        return update(RENEW, owner, holder) == 1;
    }

    void release(String owner, String holder) {
        update(RELEASE, owner, holder);
    }

    private int update(String statement, String owner, String holder) {
        return connections.own(connection -> {
            try (PreparedStatement update = JdbcSendOutbox.prepare(connection, statement, queue, owner, holder)) {
                return update.executeUpdate();
            }
        });
    }
}
