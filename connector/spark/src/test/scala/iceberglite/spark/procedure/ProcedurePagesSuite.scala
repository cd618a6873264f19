package iceberglite.spark.procedure

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

/** Checks the documentation of procedures against the registry; `UPDATE=1` in the environment rewrites it. */
class ProcedurePagesSuite extends AnyFunSuite {
  private val updating = sys.env.get("UPDATE").contains("1")
  private val begin = "<!-- begin: procedures -->\n"
  private val end = "\n<!-- end -->"

  private def text(path: Path): String =
    if (Files.exists(path)) new String(Files.readAllBytes(path), UTF_8) else ""

  private def check(path: Path, expected: String): Unit =
    if (updating) Files.write(path, expected.getBytes(UTF_8))
    else assert(text(path) == expected, s"\n$path is out of date: run this suite with UPDATE=1")

  test("docs/procedures.md describes every procedure in the registry") {
    val page = Paths.get("docs", "procedures.md")
    val before = text(page)
    val (from, to) = (before.indexOf(begin) + begin.length, before.indexOf(end))
    assert(from >= begin.length && to > 0, s"$page has no place for the procedures")
    check(page, before.take(from) + ProcedurePages.markdown.mkString("\n") + before.drop(to))
  }

  test("pyspark_iceberg has a function for every procedure, with its arguments and columns") {
    check(Paths.get("pyspark_iceberg", "procedures.py"), ProcedurePages.python.mkString("", "\n", "\n"))
  }

  test("a procedure has its table as first parameter, then required parameters, and comments on all columns") {
    Procedures.all.foreach { p =>
      assert(p.parameters.head == Parameter.table, p.name)
      assert(p.parameters.map(_.required) == p.parameters.map(_.required).sortBy(!_), p.name)
      assert(p.parameters.map(_.name.toLowerCase).distinct.size == p.parameters.size, p.name)
      assert(p.output.forall(_.getComment.isDefined), p.name)
    }
    assert(Procedures.all.map(_.name).distinct.size == Procedures.all.size)
  }
}
