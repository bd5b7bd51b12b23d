package io.easykit.benchmarks.queue.node;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The program around a contender. It reads commands from its standard input, one on each line, and replies to each with
 * a line:
 *
 * <pre>
 * send SendOrder     sends messages and records their runs      → Sent
 * fill SendOrder     sends messages for much later              → Sent
 * await ms           waits for the last sends                  → Received
 * </pre>
 *
 * The process ends when its input ends, regardless of its state.
 */
public final class QueueNode {

    /** Printed when it is ready for commands. */
    public static final String READY = "ready";

    private static final int FILL = 0;

    private final long handlerMillis;
    private volatile Round round = new Round(FILL, 0);

    private QueueNode(long handlerMillis) {
        this.handlerMillis = handlerMillis;
    }

    /** Returns the arguments of a program that calls {@link #run}. */
    public static List<String> arguments(String host, int port, int queues, int concurrency, int handlerMillis) {
        return List.of(
                host,
                String.valueOf(port),
                String.valueOf(queues),
                String.valueOf(concurrency),
                String.valueOf(handlerMillis));
    }

    /** Opens the contender and serves commands; does not return. */
    public static void run(List<String> arguments, Function<Setup, QueueContender> opener)
            throws InterruptedException, ExecutionException {
        BlockingQueue<String> orders = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(orders), "orders");
        reader.setDaemon(true);
        reader.start();
        int queues = Integer.parseInt(arguments.get(2));
        QueueNode node = new QueueNode(Long.parseLong(arguments.get(4)));
        QueueContender contender = opener.apply(new Setup(
                arguments.get(0),
                Integer.parseInt(arguments.get(1)),
                IntStream.range(0, queues).mapToObj(QueueNode::queue).toList(),
                Integer.parseInt(arguments.get(3)),
                node::handle));
        System.out.println(READY);
        while (true) {
            System.out.println(node.obey(contender, orders.take()));
        }
    }

    private static String queue(int number) {
        return "orders-" + number;
    }

    private static void read(BlockingQueue<String> orders) {
        try {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String order = in.readLine(); order != null; order = in.readLine()) {
                orders.add(order);
            }
        } catch (IOException e) {
            System.err.println("No more orders: " + e);
        }
        // Not exit: the shutdown of a contender is not measured.
        Runtime.getRuntime().halt(0);
    }

    private String obey(QueueContender contender, String order) throws InterruptedException, ExecutionException {
        int space = order.indexOf(' ');
        String rest = order.substring(space + 1);
        return switch (order.substring(0, space)) {
            case "send" -> send(contender, SendOrder.parse(rest)).line();
            case "fill" ->
                new Senders(contender, queue(0), SendOrder.parse(rest), FILL, () -> 0)
                        .run()
                        .line();
            case "await" -> round.await(Long.parseLong(rest)).line();
            default -> throw new IllegalArgumentException("Unknown order: " + order);
        };
    }

    private Sent send(QueueContender contender, SendOrder order) throws InterruptedException, ExecutionException {
        Round next = new Round(round.id + 1, order.messages());
        round = next;
        Sent sent = new Senders(contender, queue(0), order, next.id, next::received).run();
        next.forgo(order.messages() - sent.messages());
        return sent;
    }

    private void handle(String text) {
        Message message = Message.of(text);
        Round current = round;
        if (message.round() == current.id) {
            current.begins(message);
        }
        if (handlerMillis > 0) {
            try {
                Thread.sleep(handlerMillis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
