package io.easykit.cache.redis;

import io.easykit.cache.redis.Model.Violation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;

/**
 * Walks through the schedules of a model.
 *
 * @param <W> a state of the model
 */
final class Explorer<W> {

    private final Rules<W> model;
    private int states;
    private long transitions;

    Explorer(Rules<W> model) {
        this.model = model;
    }

    /** The steps that are possible in a state. */
    interface Rules<W> {

        List<Step<W>> steps(W world);

        /** Throws a {@link Violation} if something does not hold. */
        void check(W world);
    }

    /** What happens, and the state after it. */
    record Step<W>(String what, W next) {}

    int states() {
        return states;
    }

    long transitions() {
        return transitions;
    }

    /**
     * Visits every state that can be reached, breadth first, so that a violation comes with the shortest schedule that
     * leads to it.
     *
     * @throws Violation if something does not hold
     */
    void visitAll(W start) {
        Map<W, W> origins = new HashMap<>();
        Queue<W> next = new ArrayDeque<>();
        origins.put(start, start);
        next.add(start);
        for (W world = next.poll(); world != null; world = next.poll()) {
            try {
                model.check(world);
                for (Step<W> step : model.steps(world)) {
                    transitions++;
                    if (origins.putIfAbsent(step.next(), world) == null) {
                        next.add(step.next());
                    }
                }
            } catch (Violation violation) {
                throw explained(violation, scheduleTo(world, origins));
            } finally {
                states = origins.size();
            }
        }
    }

    /**
     * Follows one schedule that chance draws, until nothing is left to do.
     *
     * @throws Violation if something does not hold
     */
    void walk(W start, Random random) {
        List<String> schedule = new ArrayList<>();
        W world = start;
        try {
            model.check(world);
            for (List<Step<W>> steps = model.steps(world); !steps.isEmpty(); steps = model.steps(world)) {
                Step<W> step = steps.get(random.nextInt(steps.size()));
                schedule.add(step.what());
                world = step.next();
                states++;
                transitions += steps.size();
                model.check(world);
            }
        } catch (Violation violation) {
            throw explained(violation, schedule);
        }
    }

    private List<String> scheduleTo(W end, Map<W, W> origins) {
        List<String> schedule = new ArrayList<>();
        for (W world = end; !origins.get(world).equals(world); world = origins.get(world)) {
            W there = world;
            schedule.add(model.steps(origins.get(world)).stream()
                    .filter(step -> step.next().equals(there))
                    .map(Step::what)
                    .findFirst()
                    .orElseThrow());
        }
        Collections.reverse(schedule);
        return schedule;
    }

    private static Violation explained(Violation violation, List<String> schedule) {
        Violation explained = new Violation(violation.getMessage() + " after: " + String.join("; ", schedule));
        explained.setStackTrace(violation.getStackTrace());
        return explained;
    }
}
