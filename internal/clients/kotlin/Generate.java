import static java.util.stream.Collectors.joining;

import com.apollographql.apollo.compiler.ApolloCompiler;
import com.apollographql.apollo.compiler.CodegenOptions;
import com.apollographql.apollo.compiler.CodegenSchemaOptions;
import com.apollographql.apollo.compiler.EntryPoints;
import com.apollographql.apollo.compiler.InputFile;
import com.apollographql.apollo.compiler.IrOptions;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Does what Apollo Kotlin's plugin of Gradle does: makes Kotlin of operations, and a manifest of their texts. */
class Generate {
  public static void main(String[] paths) throws IOException {
    File schema = new File(paths[0]), folder = new File(paths[1]);
    EntryPoints.INSTANCE.buildSources(
        List.of(), Map.of(), new Quiet(),
        List.of(new InputFile(schema, "schema.graphqls")),
        List.of(new InputFile(new File("operations.graphql"), "operations.graphql")),
        options(CodegenSchemaOptions.class, Map.of(
            "scalarTypeMapping", "{}", "scalarAdapterMapping", "{}", "generateDataBuilders", "false", "allowDirectivesOnDirectives", "false")),
        options(CodegenOptions.class, Map.of("packageName", "\"shop\"", "operationManifestFormat", "\"persistedQueryManifest\"")),
        options(IrOptions.class, Map.of()),
        new File(folder, "manifest.json"), new File(folder, "sources"), new File(folder, "builders"));
  }

  /** A file of options. The compiler wants every one of them: null for its default. */
  private static File options(Class<?> kind, Map<String, String> given) throws IOException {
    var file = File.createTempFile("options", ".json");
    file.deleteOnExit();
    Files.writeString(file.toPath(), Arrays.stream(kind.getDeclaredFields())
        .filter(field -> !Modifier.isStatic(field.getModifiers()))
        .map(field -> "\"" + field.getName() + "\": " + given.get(field.getName()))
        .collect(joining(", ", "{", "}")));
    return file;
  }

  /** What fails is thrown. */
  private static class Quiet implements ApolloCompiler.Logger {
    public void debug(String text) {}
    public void info(String text) {}
    public void warning(String text) {}
    public void error(String text) {}
  }
}
