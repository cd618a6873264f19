package iceberglite.conformance

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

/**
 * A test that verifies a rule of the specification: its file, relative to the project root, and its name. The name of a
 * Python or SQL test is the name of its file.
 */
final case class Proof(rule: String, file: String, test: String)

/** Collects the tests that verify each rule, from the tags and the `proves` comments in the test sources. */
object Conformance {
  private val ScalaTest =
    """(?s)\btest\(\s*s?"((?:[^"\\]|\\.)*)"((?:\s*,\s*[\w.]+)+)(?:\s*\+:[^:]*:\s*_\*)?\s*\)""".r
  private val Tag = """\b([A-Z]\w*Rules)\.(\w+)""".r
  private val Named = """\bproves: ([\w-]+/[\w-]+)""".r

  def proofs: Vector[Proof] = scalaProofs ++ pythonAndSqlProofs

  /** Returns the path, relative to the project root, of the given file that implements a rule. */
  def source(implementedIn: String): Path = {
    val (project, rest) = implementedIn.splitAt(implementedIn.indexOf('/'))
    val folder = project match {
      case "spec" | "spark" => s"connector/$project/src/main/scala/iceberglite/$project"
      case other => s"connector/$other/src/main/scala/iceberglite"
    }
    Paths.get(folder + rest)
  }

  private lazy val idsByName: Map[String, String] = RuleBooks.all.flatMap { book =>
    val simple = book.getClass.getSimpleName.stripSuffix("$")
    book.getClass.getMethods.filter(m => m.getReturnType == classOf[Rule] && m.getParameterCount == 0)
      .map(m => s"$simple.${m.getName}" -> m.invoke(book).asInstanceOf[Rule].id)
  }.toMap

  private def scalaProofs: Vector[Proof] = tests.flatMap {
    file =>
      ScalaTest.findAllMatchIn(text(file)).toVector.flatMap { m =>
        Tag.findAllMatchIn(m.group(2)).map(t => Proof(idsByName(t.matched), file.toString, m.group(1)))
      }
  }

  private def tests: Vector[Path] = files("connector", ".scala").filter { file =>
    file.toString.contains("/src/test/") && !file.toString.contains("/conformance/")
  }

  private def pythonAndSqlProofs: Vector[Proof] = (files("tests", ".py") ++ files("tests", ".sql")).flatMap { file =>
    Named.findAllMatchIn(text(file)).map(m => Proof(m.group(1), file.toString, file.getFileName.toString))
  }

  private def files(folder: String, suffix: String): Vector[Path] = {
    val found = Files.walk(Paths.get(folder))
    try
      found.iterator.asScala.filter(f => f.toString.endsWith(suffix) && !f.toString.contains("/target/"))
        .toVector.sorted
    finally found.close()
  }

  private def text(file: Path): String = new String(Files.readAllBytes(file), "UTF-8")
}
