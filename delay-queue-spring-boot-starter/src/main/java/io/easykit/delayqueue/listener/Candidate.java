package io.easykit.delayqueue.listener;

/** An annotated method whose attributes have been checked. */
record Candidate(
        ListenerMethod where, ListenerAttributes attributes, ListenerSignature signature, ListenerInvoker invoker) {}
