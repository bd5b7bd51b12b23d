package io.easykit.cache.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** Evaluates expressions without a direct access by SpEL. The resolved accessors are shared by all calls. */
final class SpelEvaluator {

    private static final String RESULT = "result";

    private final StandardEvaluationContext shared = new StandardEvaluationContext();

    SpelEvaluator(BeanFactory beans) {
        shared.setBeanResolver(new BeanFactoryResolver(beans));
    }

    @Nullable Object evaluate(Expression expression, ParameterNames names, Call call) {
        CallContext context = new CallContext(call, names);
        shared.applyDelegatesTo(context);
        return expression.getValue(context);
    }

    /** Resolves parameters by name on demand. */
    private static final class CallContext extends StandardEvaluationContext {

        private final Call call;
        private final ParameterNames names;

        CallContext(Call call, ParameterNames names) {
            super(call);
            this.call = call;
            this.names = names;
        }

        @Override
        public @Nullable Object lookupVariable(String name) {
            if (name.equals(RESULT)) {
                return call.result();
            }
            Integer index = names.indexOf(name);
            return index != null ? call.argument(index) : super.lookupVariable(name);
        }
    }
}
