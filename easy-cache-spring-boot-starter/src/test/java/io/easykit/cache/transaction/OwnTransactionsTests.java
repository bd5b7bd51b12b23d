package io.easykit.cache.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.SimpleTransactionStatus;

@ExtendWith(OutputCaptureExtension.class)
class OwnTransactionsTests {

    /** Notes the calls, and throws the given exceptions. */
    private static final class Manager implements PlatformTransactionManager {

        private final List<String> calls = new ArrayList<>();
        private @Nullable RuntimeException atBegin;
        private @Nullable RuntimeException atEnd;

        @Override
        public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
            note("begin", atBegin);
            return new SimpleTransactionStatus();
        }

        @Override
        public void commit(TransactionStatus status) {
            note("commit", atEnd);
        }

        @Override
        public void rollback(TransactionStatus status) {
            note("rollback", atEnd);
        }

        private void note(String call, @Nullable RuntimeException failure) {
            calls.add(call);
            if (failure != null) {
                throw failure;
            }
        }
    }

    private final Manager manager = new Manager();
    private final OwnTransactions transactions = new OwnTransactions(() -> manager);
    private final RuntimeException lost = new UnexpectedRollbackException("lost");

    @Test
    void commit() {
        assertThat(transactions.<String, RuntimeException>run(() -> "result")).isEqualTo("result");
        assertThat(manager.calls).containsExactly("begin", "commit");
    }

    @Test
    void throwTheFailureOfACommit() {
        manager.atEnd = lost;
        assertThatThrownBy(() -> transactions.run(() -> "result")).isSameAs(lost);
        assertThat(manager.calls).containsExactly("begin", "commit");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rollBackAnUncheckedException(boolean failing) {
        rollBack(new IllegalStateException("unchecked"), failing);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rollBackAnError(boolean failing) {
        rollBack(new StackOverflowError("deep"), failing);
    }

    /** The failure of the rollback must not hide its cause. */
    private void rollBack(Throwable failure, boolean failing) {
        manager.atEnd = failing ? lost : null;
        assertThatThrownBy(() -> transactions.<String, Throwable>run(() -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(failure.getSuppressed()).isEqualTo(failing ? new Throwable[] {lost} : new Throwable[0]);
        assertThat(manager.calls).containsExactly("begin", "rollback");
    }

    @Test
    void commitACheckedException() {
        IOException checked = new IOException("checked");
        assertThatThrownBy(() -> fail(checked)).isSameAs(checked);
        assertThat(manager.calls).containsExactly("begin", "commit");
    }

    /** The caller must not believe that the work was committed. */
    @Test
    void throwTheFailureOfACommitInsteadOfACheckedException() {
        IOException checked = new IOException("checked");
        manager.atEnd = lost;
        assertThatThrownBy(() -> fail(checked)).isSameAs(lost).hasSuppressedException(checked);
        assertThat(checked.getSuppressed()).isEmpty();
    }

    private void fail(IOException checked) throws IOException {
        transactions.run(() -> {
            throw checked;
        });
    }

    @Test
    void runNothingIfNoTransactionBegins() {
        manager.atBegin = lost;
        assertThatThrownBy(() -> transactions.run(() -> manager.calls.add("action")))
                .isSameAs(lost);
        assertThat(manager.calls).containsExactly("begin");
    }

    @Test
    void useThePrimaryManager(CapturedOutput output) {
        DefaultListableBeanFactory beans = beans("first", "second");
        beans.getBeanDefinition("second").setPrimary(true);
        of(beans).run(() -> "");
        assertThat(beans.getBean("first", Manager.class).calls).isEmpty();
        assertThat(beans.getBean("second", Manager.class).calls).containsExactly("begin", "commit");
        assertThat(output).doesNotContain("transaction managers");
    }

    @Test
    void useNoneOfSeveralAndWarnOnce(CapturedOutput output) {
        DefaultListableBeanFactory beans = beans("first", "second");
        OwnTransactions several = of(beans);
        assertThat(several.<String, RuntimeException>run(() -> "first result")).isEqualTo("first result");
        assertThat(several.<String, RuntimeException>run(() -> "second result")).isEqualTo("second result");
        assertThat(beans.getBean("first", Manager.class).calls).isEmpty();
        assertThat(beans.getBean("second", Manager.class).calls).isEmpty();
        assertThat(output.getAll().split("none is primary", -1)).hasSize(2);
    }

    @Test
    void doNotWarnIfThereIsNone(CapturedOutput output) {
        assertThat(of(beans()).<String, RuntimeException>run(() -> "result")).isEqualTo("result");
        assertThat(output).doesNotContain("transaction managers");
    }

    private static OwnTransactions of(DefaultListableBeanFactory beans) {
        return new OwnTransactions(
                () -> OwnTransactions.choose(beans.getBeanProvider(PlatformTransactionManager.class)));
    }

    private static DefaultListableBeanFactory beans(String... managers) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        for (String name : managers) {
            beans.registerBeanDefinition(name, new RootBeanDefinition(Manager.class, Manager::new));
        }
        return beans;
    }
}
