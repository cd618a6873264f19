package iceberglite.spark.procedure

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

/**
 * Checks that the descriptions in `docs/procedures.md`, and the modules `procedures` and `procedure_results` of
 * `pyspark_iceberg`, are equal to what [[ProcedurePages]] renders. If the environment variable `UPDATE` is `1`, the
 * suite rewrites these files instead.
 */
class ProcedurePagesSuite extends AnyFunSuite {
  private val isUpdate = sys.env.get("UPDATE").contains("1")
  private val begin = "<!-- begin: procedures -->\n"
  private val end = "\n<!-- end -->"

  private def text(path: Path): String =
    if (Files.exists(path)) new String(Files.readAllBytes(path), UTF_8) else ""

  private def check(path: Path, expected: String): Unit =
    if (isUpdate) Files.write(path, expected.getBytes(UTF_8))
    else assert(text(path) == expected, s"\n$path is out of date: run this suite with UPDATE=1 in the environment")

  test("docs/procedures.md describes every procedure in the registry") {
    val page = Paths.get("docs", "procedures.md")
    val current = text(page)
    val (start, stop) = (current.indexOf(begin) + begin.length, current.indexOf(end))
    assert(start >= begin.length && stop > 0, s"$page lacks the lines ${begin.trim} and ${end.trim}")
    check(page, current.take(start) + ProcedurePages.markdown.mkString("\n") + current.drop(stop))
  }

  test("pyspark_iceberg has a function or method for every procedure, with its arguments and columns") {
    check(Paths.get("pyspark_iceberg", "procedures.py"), ProcedurePages.pythonFunctions.mkString("", "\n", "\n"))
    check(Paths.get("pyspark_iceberg", "procedure_results.py"), ProcedurePages.pythonResults.mkString("", "\n", "\n"))
  }

  test("every procedure has the parameter table or view, required parameters come first, and columns have comments") {
    Procedures.all.foreach { p =>
      assert(p.parameters.take(2).exists(Set(Parameter.table, Parameter.view)), p.name)
      assert(p.parameters.map(_.required) == p.parameters.map(_.required).sortBy(!_), p.name)
      assert(p.parameters.map(_.name.toLowerCase).distinct.size == p.parameters.size, p.name)
      assert(p.output.forall(_.getComment.isDefined), p.name)
    }
    assert(Procedures.all.map(_.name).distinct.size == Procedures.all.size)
  }
}
