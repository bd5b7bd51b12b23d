package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.cache.autoconfigure.Declarations.User;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Keys that fail the start of an application, with the reported method and remedy. */
@SuppressWarnings({"JavaUtilDate", "NonApiType"}) // they are tested
class KeyDeclarationTests {

    private final ApplicationContextRunner runner = Declarations.application();

    static class MisspeltName {
        @Cacheable(prefix = "user", keys = "#idd")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownName() {
        refuses(MisspeltName.class, "find(long)", "#idd, which is no parameter", "known are #a0, #id, #p0");
    }

    static class MisspeltNameInside {
        @Cacheable(prefix = "user", keys = "T(String).valueOf(#id + #tenant)")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownNameInsideAnExpression() {
        refuses(MisspeltNameInside.class, "find(long)", "#tenant, which is no parameter", "Correct it");
    }

    static class MisspeltProperty {
        @UpdateCache(prefix = "user", keys = "#user.idd")
        public void update(User user) {}
    }

    @Test
    void refusesAPropertyThatARecordDoesNotHave() {
        refuses(MisspeltProperty.class, "update(User)", "'idd'", "public accessor");
    }

    static class ForgottenHash {
        @Cacheable(prefix = "user", keys = "id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAForgottenHash() {
        refuses(ForgottenHash.class, "find(long)", "neither a parameter nor a text", "Write #id.");
    }

    static class ResultTooEarly {
        @Cacheable(prefix = "user", keys = "#result.id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesTheResultInAKeyThatIsNeededBefore() {
        refuses(ResultTooEarly.class, "find(long)", "#result, which is unknown before the method", "parameters");
    }

    static class ResultAsParameter {
        @UpdateCache(prefix = "user", keys = "#result.id")
        public User grade(User result) {
            return result;
        }
    }

    static class ResultInsideAnExpression {
        @UpdateCache(prefix = "user", keys = "T(String).valueOf(#result.id)")
        public User grade(User result) {
            return result;
        }
    }

    static class ResultAsParameterOfACondition {
        @UpdateCache(prefix = "user", keys = "#p0.id", condition = "#result != null")
        public User grade(User result) {
            return result;
        }
    }

    static class ResultAsParameterOfARead {
        @Cacheable(prefix = "user", keys = "#result")
        public User find(long result) {
            return new User(result, "");
        }
    }

    static class ResultAsParameterOfAVeto {
        @Cacheable(prefix = "user", keys = "#p0", unless = "#result == null")
        public User find(long result) {
            return new User(result, "");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ResultAsParameter.class,
                ResultInsideAnExpression.class,
                ResultAsParameterOfACondition.class,
                ResultAsParameterOfARead.class,
                ResultAsParameterOfAVeto.class
            })
    void refusesTheResultIfAParameterHasItsName(Class<?> bean) {
        refuses(bean, "uses #result, which is a parameter and also the returned value", "Rename the parameter");
    }

    static class ResultByPosition {
        @Cacheable(prefix = "user", keys = "#p0", ttl = "#result.name")
        public User find(long result) {
            return new User(result, "");
        }

        @UpdateCache(prefix = "user", keys = "#a0.id")
        public User grade(User result) {
            return result;
        }
    }

    @Test
    void takesAParameterOfTheNameOfTheResultByItsPosition() {
        runner.withBean(ResultByPosition.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    record Point(int x, int y) {}

    static class PositionAsName {
        @Cacheable(
                prefix = "distance",
                keys = {"#p1", "#p2"})
        public int between(Point p1, Point p2) {
            return 0;
        }
    }

    static class PositionInAPath {
        @Cacheable(prefix = "user", keys = "#a1.x")
        public User at(Point a1, Point a2) {
            return new User(1, "");
        }
    }

    static class PositionInsideAnExpression {
        @Cacheable(prefix = "user", keys = "T(String).valueOf(#p0)")
        public User at(Point p, Point p0) {
            return new User(1, "");
        }
    }

    static class PositionInACondition {
        @Cacheable(prefix = "user", keys = "#id", condition = "#p0 != null")
        public User at(long id, Point p0) {
            return new User(1, "");
        }
    }

    static class PositionInAVeto {
        @Cacheable(prefix = "user", keys = "#id", unless = "#p0 == null")
        public User at(long id, Point p0) {
            return new User(1, "");
        }
    }

    static class PositionInAnUpdate {
        @UpdateCache(prefix = "user", keys = "#p1")
        public void move(Point p1, Point p2) {}
    }

    static class PositionOfABatch {
        @Cacheable(prefix = "user", keys = "#p1", batch = true)
        public List<User> at(List<Long> p1, String p2) {
            return List.of();
        }
    }

    interface NamedByPosition {
        @Cacheable(prefix = "user", keys = "#p1")
        User at(Point first, Point second);
    }

    static class PositionInAnImplementation implements NamedByPosition {
        @Override
        public User at(Point p1, Point p2) {
            return new User(1, "");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                PositionAsName.class,
                PositionInAPath.class,
                PositionInsideAnExpression.class,
                PositionInACondition.class,
                PositionInAVeto.class,
                PositionInAnUpdate.class,
                PositionOfABatch.class,
                PositionInAnImplementation.class
            })
    void refusesTheNameOfAParameterThatIsThePositionOfAnother(Class<?> bean) {
        refuses(bean, "is the name of one parameter and the position of another", "Rename the parameter, or write #a");
    }

    static class OtherPositions {
        @Cacheable(
                prefix = "distance",
                keys = {"#a0", "#p2"})
        public int between(Point p1, Point p2) {
            return 0;
        }

        @Cacheable(prefix = "user", keys = "#a0", batch = true)
        public Map<Long, User> users(Collection<Long> p1, String p2) {
            return Map.of();
        }

        @Cacheable(
                prefix = "own",
                keys = {"#p0", "#a1"})
        public int atTheirOwn(Point p0, Point a1) {
            return 0;
        }
    }

    @Test
    void takesNamesThatAreThePositionOfNoOther() {
        runner.withBean(OtherPositions.class).run(context -> assertThat(context).hasNotFailed());
    }

    // Placeholders

    static class KeyOfADeployment {
        @Cacheable(
                prefix = "user",
                keys = {"'${app.region}'", "#id"})
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class ConditionOfADeployment {
        @Cacheable(prefix = "user", keys = "#id", condition = "#id > ${app.first}")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class VetoOfADeployment {
        @Cacheable(prefix = "user", keys = "#id", unless = "#result.id > ${app.last}")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class UpdateOfADeployment {
        @UpdateCache(prefix = "user", keys = "'${app.region}'")
        public void update(long id) {}
    }

    static class ConditionOfAnUpdate {
        @UpdateCache(prefix = "user", all = true, condition = "#id > ${app.first}")
        public void update(long id) {}
    }

    @Test
    void refusesPlaceholdersWithoutAValue() {
        String problem = "has a placeholder without a value";
        refuses(KeyOfADeployment.class, "keys = \"'${app.region}'\" " + problem, "Set the property");
        refuses(ConditionOfADeployment.class, "condition = \"#id > ${app.first}\" " + problem, "Set the property");
        refuses(VetoOfADeployment.class, "unless = \"#result.id > ${app.last}\" " + problem, "Set the property");
        refuses(UpdateOfADeployment.class, "keys = \"'${app.region}'\" " + problem, "Set the property");
        refuses(ConditionOfAnUpdate.class, "condition = \"#id > ${app.first}\" " + problem, "Set the property");
    }

    static class KeysOfADeployment {
        @Cacheable(
                prefix = "user",
                keys = {"${app.key}", "'${app.region}'"},
                condition = "#id > ${app.first}",
                unless = "${app.veto:}")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable(prefix = "list", keys = "${app.key}s", batch = true, unless = "${app.veto:}")
        public List<User> findAll(List<Long> ids) {
            return List.of();
        }

        @UpdateCache(
                prefix = "user",
                keys = {"${app.late}", "'${app.region}'"})
        public User update(User user) {
            return user;
        }
    }

    @Test
    void declaresKeysWithTheValuesOfPlaceholders() {
        runner.withPropertyValues("app.key=#id", "app.region=eu", "app.first=9", "app.late=#result.id")
                .withBean(KeysOfADeployment.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(CachedMethods.class).declared()).anySatisfy(cache -> {
                        assertThat(cache.spec().prefix()).isEqualTo("user");
                        assertThat(cache.keyParts()).extracting(KeyPart::text).containsExactly("#id", "'eu'");
                        assertThat(cache.staleness()).contains("keys over #result");
                    });
                });
    }

    @Test
    void refusesAnExpressionOfAPlaceholderThatIsWrong() {
        refuses(
                runner.withPropertyValues("app.region=o'clock"),
                KeyOfADeployment.class,
                "''o'clock'' in keys is not a SpEL expression",
                "Write a parameter as #name");
    }

    static class Malformed {
        @Cacheable(prefix = "user", keys = "#id +")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesWhatIsNoExpression() {
        refuses(Malformed.class, "find(long)", "is not a SpEL expression", "Write a parameter as #name");
    }

    static class MisspeltCondition {
        @Cacheable(prefix = "user", keys = "#id", condition = "#ids > 3")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownNameInACondition() {
        refuses(MisspeltCondition.class, "find(long)", "in condition names #ids", "Correct it");
    }

    static class UnknownBean {
        @Cacheable(prefix = "user", keys = "@keys.of(#id)")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownBean() {
        refuses(UnknownBean.class, "find(long)", "the bean 'keys', which does not exist", "define the bean");
    }

    @Test
    void refusesNamesOfAClassThatWasCompiledWithoutThem(@TempDir Path classes) throws Exception {
        String source =
                """
                package shop;
                public class Nameless {
                    @io.easykit.cache.annotation.Cacheable(prefix = "user", keys = "#id")
                    public String find(long id) { return ""; }
                }
                """;
        refuses(
                compileWithoutParameterNames("shop.Nameless", source, classes),
                "shop.Nameless.find(long)",
                "compiled without parameter names",
                "Compile with -parameters, or write #p0");
    }

    // Keys

    static class NoKey {
        @Cacheable(
                prefix = "user",
                keys = {})
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesNoKey() {
        refuses(NoKey.class, "find(long)", "all calls would share one entry", "Name at least one part");
    }

    static class EmptyKey {
        @Cacheable(prefix = "user", keys = " ")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnEmptyKey() {
        refuses(EmptyKey.class, "find(long)", "a key part is empty", "Name a parameter");
    }

    static class NullKey {
        @Cacheable(prefix = "user", keys = "null")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAKeyThatIsAlwaysNull() {
        refuses(NullKey.class, "find(long)", "is always null", "Name a parameter");
    }

    static class ArrayKey {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(long[] ids) {
            return new User(ids[0], "");
        }
    }

    @Test
    void refusesAnArrayAsKey() {
        refuses(ArrayKey.class, "find(long[])", "long[], which has no text", "Use its id");
    }

    static class SetKey {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(Set<Long> ids) {
            return new User(1, "");
        }
    }

    @Test
    void refusesASetAsKey() {
        refuses(SetKey.class, "find(Set)", "java.util.Set, which has no text", "a list of texts");
    }

    static class MapKey {
        @Cacheable(prefix = "user", keys = "#filter")
        public User find(Map<String, String> filter) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAMapAsKey() {
        refuses(MapKey.class, "find(Map)", "java.util.Map, which has no text", "Use its id");
    }

    static class Filter {}

    static class ObjectTextKey {
        @Cacheable(prefix = "user", keys = "#filter")
        public User find(Filter filter) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAKeyWithTheTextOfObject() {
        refuses(ObjectTextKey.class, "find(Filter)", "Filter, which has no text", "Use its id");
    }

    static class NestedArrayKey {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(List<Optional<long[]>> ids) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAnArrayInsideAListAsKey() {
        refuses(NestedArrayKey.class, "find(List)", "long[], which has no text", "make it a record");
    }

    static class TextOnly {

        private String text = "";

        @Override
        public String toString() {
            return text;
        }
    }

    static class TextOnlyKey {
        @Cacheable(prefix = "user", keys = "#filter")
        public User find(TextOnly filter) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAKeyOfWhichNothingIsKnownButItsText() {
        refuses(TextOnlyKey.class, "find(TextOnly)", "TextOnly, which has no text", "make it a record");
    }

    static class NumberAndText {
        @Cacheable(
                prefix = "user",
                keys = {"#shop", "#id"})
        public User find(String shop, int id) {
            return new User(id, "");
        }

        @UpdateCache(
                prefix = "user",
                keys = {"#shop", "#id"})
        public void update(String shop, String id) {}
    }

    @Test
    void refusesAnUpdateByATextOfWhatIsReadByANumber() {
        refuses(NumberAndText.class, "'#id' is a", "never name the same entry of 'user'", "Declare both with the same");
    }

    static class DecimalAndText {
        @Cacheable(prefix = "decimal", keys = "#id")
        public User find(String id) {
            return new User(1, id);
        }

        @UpdateCache(prefix = "decimal", keys = "#id")
        public void update(BigDecimal id) {}
    }

    static class DecimalAndNumber {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(Long id) {
            return new User(id, "");
        }

        @UpdateCache(prefix = "user", keys = "#row.id")
        public void update(Row row) {}

        record Row(BigDecimal id) {}
    }

    static class DecimalsAndNumber {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @UpdateCache(prefix = "user", keys = "#ids", batch = true)
        public void update(List<BigDecimal> ids) {}
    }

    static class DateAndTime {
        @Cacheable(prefix = "user", keys = "#day")
        public User find(Date day) {
            return new User(1, "");
        }

        @UpdateCache(prefix = "user", keys = "#day")
        public void update(Instant day) {}
    }

    static class SqlDateAndTimestamp {
        @Cacheable(prefix = "user", keys = "#day")
        public User find(java.sql.Date day) {
            return new User(1, "");
        }

        @UpdateCache(prefix = "user", keys = "#day")
        public void update(Timestamp day) {}
    }

    static class TimestampAndSqlDate {
        @UpdateCache(prefix = "user", keys = "#day")
        public void update(Timestamp day) {}

        @UpdateCache(prefix = "user", keys = "#day")
        public void updateAgain(java.sql.Date day) {}

        @Cacheable(prefix = "user", keys = "#day")
        public User find(Timestamp day) {
            return new User(1, "");
        }
    }

    static class SqlDatesAndTimes {
        @Cacheable(prefix = "user", keys = "#days")
        public User find(List<java.sql.Date> days) {
            return new User(1, "");
        }

        @UpdateCache(prefix = "user", keys = "#days")
        public void update(List<Time> days) {}
    }

    static class ZoneAndText {
        @Cacheable(prefix = "user", keys = "#zone")
        public User find(ZoneId zone) {
            return new User(1, "");
        }

        @UpdateCache(prefix = "user", keys = "#zone")
        public void update(String zone) {}
    }

    static class ListsOfOtherElements {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(List<Long> ids) {
            return new User(1, "");
        }

        @UpdateCache(prefix = "user", keys = "#ids")
        public void updateAny(List<?> ids) {}

        @UpdateCache(prefix = "user", keys = "#ids")
        public void update(ArrayList<String> ids) {}
    }

    abstract static class Inherited<T> {
        @UpdateCache(prefix = "user", keys = "#ids")
        public void update(List<Optional<T>> ids) {}
    }

    static class InheritedListOfOtherElements extends Inherited<String> {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(List<Optional<Long>> ids) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAnUpdateByATypeThatNeverNamesWhatIsRead() {
        String text = "or convert one, for example keys = \"#id.toString()\".";
        String number = "or convert one, for example keys = \"#id.longValue()\".";
        String none = "Declare both with the same type.";
        String never = "never name the same entry of 'user'";
        refuses(DecimalAndText.class, "java.math.BigDecimal", "never name the same entry of 'decimal'", text);
        refuses(DecimalAndNumber.class, "java.math.BigDecimal", never, number);
        refuses(DecimalsAndNumber.class, "java.math.BigDecimal", never, number);
        refuses(DateAndTime.class, "java.util.Date", never, none);
        refuses(SqlDateAndTimestamp.class, "java.sql.Timestamp", never, none);
        refuses(TimestampAndSqlDate.class, "java.sql.Date", never, none);
        refuses(SqlDatesAndTimes.class, "java.util.List<java.sql.Time>", never, none);
        refuses(ZoneAndText.class, "java.time.ZoneId", never, text);
        refuses(ListsOfOtherElements.class, "java.util.ArrayList<java.lang.String>", never, none);
        refuses(InheritedListOfOtherElements.class, "Optional<java.lang.String>", never, none);
    }

    static class Supertypes {
        @Cacheable(
                prefix = "user",
                keys = {"#id", "#day", "#zone", "#ids"})
        public User find(BigDecimal id, Date day, ZoneId zone, List<Long> ids) {
            return new User(1, "");
        }

        @UpdateCache(
                prefix = "user",
                keys = {"#id", "#day", "#zone", "#ids"})
        public void update(Number id, Comparable<?> day, Object zone, Object ids) {}

        @UpdateCache(
                prefix = "user",
                keys = {"#id", "#day", "#zone", "#ids"})
        public void updateSame(BigDecimal id, Timestamp day, ZoneOffset zone, ArrayList<? extends Number> ids) {}

        @UpdateCache(
                prefix = "user",
                keys = {"#id", "#day", "#zone", "#ids"})
        public <T> void updateAny(BigDecimal id, java.sql.Date day, ZoneId zone, List<T> ids) {}
    }

    static class DatesOfSql {
        @Cacheable(prefix = "sql", keys = "#day")
        public User find(java.sql.Date day) {
            return new User(1, "");
        }

        @UpdateCache(prefix = "sql", keys = "#day")
        public void update(Date day) {}

        @UpdateCache(prefix = "sql", keys = "#day")
        public void updateSame(java.sql.Date day) {}
    }

    /** The read may have entries of both updates. */
    static class ListsOfDates {
        @UpdateCache(prefix = "days", keys = "#days")
        public void updateDates(List<java.sql.Date> days) {}

        @UpdateCache(prefix = "days", keys = "#days")
        public void updateTimestamps(List<Timestamp> days) {}

        @Cacheable(prefix = "days", keys = "#days")
        public User find(List<Date> days) {
            return new User(1, "");
        }
    }

    static class UpdateOfTimestamp {
        @UpdateCache(prefix = "time", keys = "#day")
        public void update(Timestamp day) {}
    }

    static class ReadOfTimestamp {
        @Cacheable(prefix = "time", keys = "#day")
        public User find(Timestamp day) {
            return new User(1, "");
        }
    }

    static class UpdateOfSqlDate {
        @UpdateCache(prefix = "time", keys = "#day")
        public void update(java.sql.Date day) {}
    }

    /** An update of the same type comes before the read. */
    @Test
    void comparesAnUpdateWithEachReadBeforeIt() {
        runner.withBean(UpdateOfTimestamp.class)
                .withBean(ReadOfTimestamp.class)
                .withBean(UpdateOfSqlDate.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("so the two never name the same entry of 'time'"));
    }

    static class EndlessTypes {
        @Cacheable(prefix = "nested", keys = "#ids")
        public <T extends List<T>> User find(List<T> ids) {
            return new User(1, "");
        }

        @UpdateCache(prefix = "nested", keys = "#ids")
        public <E extends List<E>> void update(List<List<E>> ids) {}
    }

    @Test
    void takesTypesThatCanHaveTheSameValues() {
        runner.withBean(Supertypes.class)
                .withBean(DatesOfSql.class)
                .withBean(ListsOfDates.class)
                .withBean(EndlessTypes.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class TwoNumbers {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(Long id) {
            return new User(id, "");
        }

        @UpdateCache(prefix = "user", keys = "#id")
        public void update(int id) {}

        @UpdateCache(prefix = "user", keys = "#user.id()")
        public void update(User user) {}

        @UpdateCache(prefix = "user", keys = "#id")
        public void updateAny(Object id) {}
    }

    @Test
    void takesNumbersOfDifferentSizesForOneKey() {
        runner.withBean(TwoNumbers.class).run(context -> assertThat(context).hasNotFailed());
    }

    static class BadPrefix {
        @Cacheable(prefix = "user:", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAPrefixThatCannotStartAKey() {
        refuses(BadPrefix.class, "find(long)", "The prefix 'user:' cannot start a key", "Correct the annotation");
    }

    private static Class<?> compileWithoutParameterNames(String name, String source, Path classes) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        SimpleJavaFileObject file =
                new SimpleJavaFileObject(
                        URI.create("string:///" + name.replace('.', '/') + ".java"), SimpleJavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        List<String> options = List.of("-d", classes.toString(), "-classpath", System.getProperty("java.class.path"));
        assertThat(compiler.getTask(null, null, null, options, null, List.of(file))
                        .call())
                .isTrue();
        byte[] bytes = Files.readAllBytes(classes.resolve(name.replace('.', '/') + ".class"));
        return new ClassLoader(KeyDeclarationTests.class.getClassLoader()) {
            Class<?> define() {
                return defineClass(name, bytes, 0, bytes.length);
            }
        }.define();
    }
}
