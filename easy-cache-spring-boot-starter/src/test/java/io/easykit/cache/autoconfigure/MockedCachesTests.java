package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Tests of an application that replace a bean with {@link Cacheable} methods, while updates of its cache stay. */
@ExtendWith(OutputCaptureExtension.class)
class MockedCachesTests {

    interface Catalog {
        String price(String sku);
    }

    static class DbCatalog implements Catalog {
        @Override
        @Cacheable(prefix = "price", keys = "#sku")
        public String price(String sku) {
            return "1";
        }
    }

    static class PriceImport {
        @UpdateCache(prefix = "price", keys = "#sku")
        public void change(String sku) {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    static class Application {
        @Bean
        DbCatalog catalog() {
            return new DbCatalog();
        }

        @Bean
        PriceImport priceImport() {
            return new PriceImport();
        }
    }

    @DirtiesContext // each has the lines of its own start
    @SpringBootTest(classes = Application.class, webEnvironment = WebEnvironment.NONE)
    @TestPropertySource(properties = "spring.data.redis.port=1")
    abstract static class Base {

        void warns(CapturedOutput output, String bean) {
            assertThat(output)
                    .contains("WARN")
                    .contains(
                            "PriceImport.change(String) updates 'price', but no @Cacheable with that prefix was found.")
                    .contains("[" + bean + "]")
                    .contains("easy-cache.external-prefixes")
                    .doesNotContain("which another application caches");
        }
    }

    @Nested
    class ByAMockOfItsInterface extends Base {

        @MockitoBean
        Catalog catalog;

        @Test
        void startsAndWarns(CapturedOutput output) {
            warns(output, "catalog");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    @Import({DbCatalog.class, PriceImport.class})
    static class Importing {}

    @Nested
    @SpringBootTest(classes = Importing.class, webEnvironment = WebEnvironment.NONE)
    class ByAMockOfAClassWithoutABeanMethod extends Base {

        @MockitoBean
        Catalog catalog;

        @Test
        void startsAndWarns(CapturedOutput output) {
            warns(output, DbCatalog.class.getName());
        }
    }

    @Nested
    class ByAnotherImplementation extends Base {

        @TestBean
        Catalog catalog;

        static Catalog catalog() {
            return sku -> "2";
        }

        @Test
        void startsAndWarns(CapturedOutput output) {
            warns(output, "catalog");
        }
    }

    /** A mock of a class has its annotations. */
    @Nested
    class ByAMockOfItsClass extends Base {

        @MockitoBean
        DbCatalog catalog;

        @Test
        void startsAndKnowsTheCache(CapturedOutput output) {
            assertThat(output)
                    .contains("has annotated methods that are not intercepted")
                    .doesNotContain("no @Cacheable");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyBean {
        @Bean
        Runnable early() {
            return () -> {};
        }

        @Bean
        static BeanFactoryPostProcessor creator() {
            return factory -> factory.getBean("early");
        }
    }

    /** Instances that replace no bean hide no annotations, and neither do beans that are created early. */
    @Test
    void staysStrictWithoutAReplacedBean() {
        refuses(
                Declarations.application()
                        .withUserConfiguration(EarlyBean.class)
                        .withInitializer(
                                context -> context.getBeanFactory().registerSingleton("other", new DbCatalog())),
                Misspelt.class,
                "no @Cacheable has the prefix 'prise', so nothing would be invalidated; known are [price]",
                "Correct the prefix.");
    }

    static class Misspelt {
        @UpdateCache(prefix = "prise", keys = "#sku")
        public void change(String sku) {}
    }
}
