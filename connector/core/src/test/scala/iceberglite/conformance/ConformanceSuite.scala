package iceberglite.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

/**
 * Checks that `docs/conformance.md` lists each rule of the specification with its implementation and its tests. With
 * `UPDATE=1` in the environment, the suite writes the page.
 */
class ConformanceSuite extends AnyFunSuite {
  private val page: Path = Paths.get("docs", "conformance.md")
  private lazy val proofs = Conformance.proofs

  private def rules: Seq[Rule] = RuleBooks.all.flatMap(_.rules)

  test("every rule has a test that verifies the rule") {
    val proved = proofs.map(_.rule).toSet
    assert(rules.map(_.id).filterNot(proved).isEmpty)
  }

  test("every tag and every `proves` comment of a test refers to an existing rule, and rule ids are unique") {
    val ruleIds = rules.map(_.id)
    assert(proofs.map(_.rule).filterNot(ruleIds.toSet).isEmpty)
    assert(ruleIds.distinct.size == ruleIds.size)
  }

  test("the sentence of every rule ends with a period") {
    assert(rules.map(_.sentence).filterNot(_.endsWith(".")).isEmpty)
  }

  test("every rule lists the files that implement the rule, and these files exist") {
    assert(rules.filter(_.implementedIn.isEmpty).map(_.id).isEmpty)
    assert(rules.flatMap(_.implementedIn).distinct.filterNot(f => Files.isRegularFile(Conformance.source(f))).isEmpty)
  }

  test("docs/conformance.md matches the rules and their proofs") {
    val rendered = render
    if (sys.env.get("UPDATE").contains("1")) Files.write(page, rendered.getBytes(UTF_8))
    else {
      val saved = new String(Files.readAllBytes(page), UTF_8)
      assert(saved == rendered, s"\n$page is out of date: run this suite with UPDATE=1")
    }
  }

  private def render: String = {
    val byRule = proofs.groupBy(_.rule)
    val books = RuleBooks.all.filter(_.rules.nonEmpty).map { book =>
      val rows = book.rules.map { r =>
        val proved = byRule.getOrElse(r.id, Vector.empty).distinct.map(p => s"${cell(p.test)} (`${name(p.file)}`)")
        s"| ${cell(r.sentence)} | ${cell(r.section)} | ${r.implementedIn.map(f => s"`$f`").mkString("<br>")} | " +
          s"${proved.mkString("<br>")} |"
      }
      s"## ${book.title}\n\n| rule | section | implemented in | shown by |\n|---|---|---|---|\n" + rows.mkString(
        "",
        "\n",
        "\n"
      )
    }
    ConformanceSuite.Head + books.mkString("\n")
  }

  private def name(file: String): String = Paths.get(file).getFileName.toString

  private def cell(text: String): String = text.replace("|", "\\|").replace("\\\"", "\"")
}

private object ConformanceSuite {
  val Head: String =
    """# Conformance
      |
      |This page lists the rules of the Iceberg specifications for tables, views and Puffin files, and some rules of
      |this project, with the files that implement each rule and the tests that show it. The page is generated from the
      |tags of the tests (`ConformanceSuite` with `UPDATE=1`). A test fails if the page does not match the tags.
      |
      |An "adopted version" in the column "section" is the text that the Iceberg community adopted by vote. Earlier
      |drafts of version 3 and of the view specification differ from it.
      |
      |""".stripMargin
}
