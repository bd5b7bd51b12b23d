package io.easykit.cache.redis;

import io.easykit.cache.redis.Model.Step;
import io.easykit.cache.redis.Model.Violation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;

/** Walks through the schedules of a model. */
final class Explorer {

    private final Model model;
    private int states;
    private long transitions;

    Explorer(Model model) {
        this.model = model;
    }

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
    void visitAll(World start) {
        Map<World, World> origins = new HashMap<>();
        Queue<World> next = new ArrayDeque<>();
        origins.put(start, start);
        next.add(start);
        for (World world = next.poll(); world != null; world = next.poll()) {
            try {
                model.check(world);
                for (Step step : model.steps(world)) {
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
    void walk(World start, Random random) {
        List<String> schedule = new ArrayList<>();
        World world = start;
        try {
            model.check(world);
            for (List<Step> steps = model.steps(world); !steps.isEmpty(); steps = model.steps(world)) {
                Step step = steps.get(random.nextInt(steps.size()));
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

    private List<String> scheduleTo(World end, Map<World, World> origins) {
        List<String> schedule = new ArrayList<>();
        for (World world = end; !origins.get(world).equals(world); world = origins.get(world)) {
            World there = world;
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
