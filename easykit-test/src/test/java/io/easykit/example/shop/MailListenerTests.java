package io.easykit.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.verify;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.autoconfigure.DelayQueueTest;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

@DelayQueueTest
class MailListenerTests {

    @Autowired
    DelayQueueTester queue;

    @Autowired
    DelayQueueTemplate template;

    @MockitoBean
    MailShop.Mailer mailer;

    @Test
    void createsListenersOfDeadLettersAndErrorHandlers(@Autowired MailShop.FailedMails failed) {
        doThrow(new IllegalStateException("no such address")).when(mailer).send("nobody");
        template.send("mail", "nobody");

        queue.advance(Duration.ofMinutes(1));

        assertThat(queue).hasDeadLetter("mail").withError("no such address").withFailures(1);
        assertThat(failed.count()).isEqualTo(1);
    }

    @Test
    void createsListenersWhoseMethodIsInherited(
            @Autowired MailShop.Letters letters, @Autowired MailShop.Parcels parcels) {
        template.send("letter", "a");
        template.send("parcel", "b");

        queue.runDue();

        assertThat(letters.count()).isEqualTo(1);
        assertThat(parcels.signed()).isEqualTo(1);
    }

    @Test
    void createsNothingElse(@Autowired ApplicationContext context) {
        assertThat(context.getBeanNamesForType(MailShop.Reports.class)).isEmpty();
        assertThat(context.getBeanNamesForType(DataSource.class)).isEmpty();
    }

    @Test
    void sendsTheMail() {
        template.send("mail", "ann@example.com", Duration.ofDays(1));

        queue.advance(Duration.ofDays(1));

        verify(mailer).send("ann@example.com");
    }
}
