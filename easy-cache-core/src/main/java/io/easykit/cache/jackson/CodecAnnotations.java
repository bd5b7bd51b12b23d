package io.easykit.cache.jackson;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.lang.annotation.Annotation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.Version;
import tools.jackson.databind.AnnotationIntrospector;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.PropertyName;
import tools.jackson.databind.annotation.JsonPOJOBuilder;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.AnnotatedField;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.AnnotatedParameter;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.databind.introspect.ObjectIdInfo;
import tools.jackson.databind.jsontype.NamedType;

/**
 * Follows the annotations that describe how an object is built: its subtypes, its creator, its references. All others shape
 * the view of a web client ({@code @JsonIgnore}, {@code @JsonFormat}, {@code @JsonView}, {@code access}, a serializer that
 * masks …), and would lose content here.
 */
final class CodecAnnotations extends AnnotationIntrospector {

    private static final long serialVersionUID = 1L;

    private final JacksonAnnotationIntrospector jackson = new JacksonAnnotationIntrospector();

    @Override
    public Version version() {
        return jackson.version();
    }

    @Override
    public boolean isAnnotationBundle(Annotation annotation) {
        return jackson.isAnnotationBundle(annotation);
    }

    @Override
    public @Nullable PropertyName findNameForSerialization(MapperConfig<?> config, Annotated member) {
        return member instanceof AnnotatedField ? jackson.findNameForSerialization(config, member) : null;
    }

    @Override
    public @Nullable PropertyName findNameForDeserialization(MapperConfig<?> config, Annotated member) {
        return member instanceof AnnotatedField || member instanceof AnnotatedParameter
                ? jackson.findNameForDeserialization(config, member)
                : null;
    }

    @Override
    public @Nullable String findImplicitPropertyName(MapperConfig<?> config, AnnotatedMember member) {
        return jackson.findImplicitPropertyName(config, member);
    }

    @Override
    public JsonCreator.@Nullable Mode findCreatorAnnotation(MapperConfig<?> config, Annotated member) {
        return jackson.findCreatorAnnotation(config, member);
    }

    @Override
    public @Nullable Boolean hasAsValue(MapperConfig<?> config, Annotated member) {
        return jackson.hasAsValue(config, member);
    }

    @Override
    public @Nullable Boolean hasAsKey(MapperConfig<?> config, Annotated member) {
        return jackson.hasAsKey(config, member);
    }

    @Override
    public @Nullable Class<?> findPOJOBuilder(MapperConfig<?> config, AnnotatedClass type) {
        return jackson.findPOJOBuilder(config, type);
    }

    @Override
    public JsonPOJOBuilder.@Nullable Value findPOJOBuilderConfig(MapperConfig<?> config, AnnotatedClass type) {
        return jackson.findPOJOBuilderConfig(config, type);
    }

    @Override
    public JavaType refineDeserializationType(MapperConfig<?> config, Annotated member, JavaType base) {
        return jackson.refineDeserializationType(config, member, base);
    }

    @Override
    public JsonTypeInfo.@Nullable Value findPolymorphicTypeInfo(MapperConfig<?> config, Annotated member) {
        return jackson.findPolymorphicTypeInfo(config, member);
    }

    @Override
    public @Nullable Object findTypeResolverBuilder(MapperConfig<?> config, Annotated member) {
        Object chosen = jackson.findTypeResolverBuilder(config, member);
        return chosen == null && FingerprintedTypeIds.suit(findPolymorphicTypeInfo(config, member))
                ? new FingerprintedTypeIds(member instanceof AnnotatedClass)
                : chosen;
    }

    @Override
    public @Nullable Object findTypeIdResolver(MapperConfig<?> config, Annotated member) {
        return jackson.findTypeIdResolver(config, member);
    }

    @Override
    public @Nullable List<NamedType> findSubtypes(MapperConfig<?> config, Annotated type) {
        return jackson.findSubtypes(config, type);
    }

    @Override
    public @Nullable String findTypeName(MapperConfig<?> config, AnnotatedClass type) {
        return jackson.findTypeName(config, type);
    }

    @Override
    public @Nullable Boolean isTypeId(MapperConfig<?> config, AnnotatedMember member) {
        return jackson.isTypeId(config, member);
    }

    @Override
    public @Nullable ReferenceProperty findReferenceType(MapperConfig<?> config, AnnotatedMember member) {
        return jackson.findReferenceType(config, member);
    }

    @Override
    public @Nullable ObjectIdInfo findObjectIdInfo(MapperConfig<?> config, Annotated type) {
        return jackson.findObjectIdInfo(config, type);
    }

    @Override
    public @Nullable ObjectIdInfo findObjectReferenceInfo(
            MapperConfig<?> config, Annotated member, @Nullable ObjectIdInfo info) {
        return jackson.findObjectReferenceInfo(config, member, info);
    }
}
