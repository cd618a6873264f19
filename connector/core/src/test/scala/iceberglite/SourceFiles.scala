package iceberglite

import java.nio.file.{Files, Path, Paths}

import scala.annotation.tailrec
import scala.collection.JavaConverters._

/** Reads the sources of the connector, for suites that check their text. */
object SourceFiles {
  val connector: Path = Paths.get("connector")

  /** Returns the Scala sources in a folder, such as `core/src/main`. */
  def in(folder: String): Vector[Path] = {
    val files = Files.walk(connector.resolve(folder))
    try files.iterator.asScala.filter(_.toString.endsWith(".scala")).toVector.sorted
    finally files.close()
  }

  /** Returns the path of a source below its package folder `iceberglite`, such as `spark/read/IcebergScan.scala`. */
  def shortName(file: Path): String = file.toString.replaceAll(".*/scala(-2\\.1\\d)?/iceberglite/", "")

  /**
   * Returns the text of a source without comments, and with `0` in place of each string or character literal. Line
   * numbers do not change.
   */
  def code(file: Path): String = {
    val text = new String(Files.readAllBytes(file), "UTF-8")
    val literals = "(?s)/\\*.*?\\*/|\"\"\".*?\"\"\"+|\"(?:[^\"\\\\\n]|\\\\.)*\"|//[^\n]*|'(?:[^'\\\\\n]|\\\\.)'".r
    literals.replaceAllIn(
      text,
      m => {
        val kept = "\n" * m.matched.count(_ == '\n')
        if (m.matched.startsWith("/")) kept else s"0$kept"
      }
    )
  }

  /**
   * A method or lazy value.
   *
   * @param body the text after the equals sign, up to the end of the file
   * @param line the number of the line with the name, counted from 1
   */
  final case class Definition(name: String, isOverride: Boolean, body: String, line: Int)

  private val definition =
    ("""(?m)^\s*((?:(?:override|final|private|protected|implicit)(?:\[\w+\])?\s+)*)""" +
      """(?:def|lazy val)\s+([\w]+|[^\s\w(\[:]+)""").r

  /** Returns the methods and lazy values of a source that have a body. */
  def definitions(code: String): Vector[Definition] = definition.findAllMatchIn(code).toVector.flatMap { m =>
    val lineOfName = code.substring(0, m.start(2)).count(_ == '\n') + 1
    startOfBody(code, m.end).map(s =>
      Definition(m.group(2), m.group(1).contains("override"), code.substring(s), lineOfName)
    )
  }

  /** Returns the index after the equals sign of a definition; absent if the definition is abstract. */
  private def startOfBody(code: String, afterName: Int): Option[Int] = {
    @tailrec def next(i: Int, depth: Int): Option[Int] =
      if (i >= code.length) None
      else code(i) match {
        case '(' | '[' | '{' => next(i + 1, depth + 1)
        case ')' | ']' | '}' => if (depth == 0) None else next(i + 1, depth - 1)
        case '=' if depth == 0 && code(i + 1) == '>' => next(i + 2, depth)
        case '=' if depth == 0 => Some(i + 1 + code.substring(i + 1).prefixLength(_.isWhitespace))
        case '\n' if depth == 0 && endsDeclaration(code.substring(afterName, i), code.substring(i)) => None
        case _ => next(i + 1, depth)
      }
    next(afterName, 0)
  }

  /**
   * Whether a line break ends a declaration without a body.
   *
   * @param before the text between the declared name and the line break
   * @param after the text from the line break on
   */
  private def endsDeclaration(before: String, after: String): Boolean =
    !before.trim.endsWith(":") && !after.trim.startsWith("(") && !after.trim.startsWith(":")

  private val parameterized = """\b(?:class|def)\s+(\w+)(?:\s+(?:private|protected)(?:\[\w+\])?\s*)?""".r

  /** Returns the classes and methods of a source, each with the length of its longest parameter list. */
  def parameterCounts(code: String): Vector[(String, Int)] =
    parameterized.findAllMatchIn(code).toVector.map(m => m.group(1) -> longestList(code, m.end))

  /** Returns the length of the longest of the parameter lists that begin at an index, after any type parameters. */
  private def longestList(code: String, from: Int): Int = {
    @tailrec def next(i: Int, longest: Int): Int =
      if (i >= code.length || !"[(".contains(code(i))) longest
      else {
        val end = endOfBrackets(code, i)
        next(end, if (code(i) == '(') math.max(longest, elements(code.substring(i + 1, end - 1))) else longest)
      }
    next(from, 0)
  }

  /** Returns the index after the bracket that closes the bracket at an index. */
  private def endOfBrackets(code: String, from: Int): Int = {
    @tailrec def next(i: Int, depth: Int): Int = {
      val inside = depth + (if ("([{".contains(code(i))) 1 else if (")]}".contains(code(i))) -1 else 0)
      if (inside == 0) i + 1 else next(i + 1, inside)
    }
    next(from, 0)
  }

  /** Returns the number of elements of a list that are separated by commas. */
  private def elements(list: String): Int = {
    val depths = list.scanLeft(0) { (depth, c) =>
      depth + (if ("([{".contains(c)) 1 else if (")]}".contains(c)) -1 else 0)
    }
    if (list.trim.isEmpty) 0 else list.zip(depths).count { case (c, depth) => c == ',' && depth == 0 } + 1
  }

  /** @param length the number of lines of the function, from `def` to the end of the body */
  final case class Function(name: String, length: Int)

  private val functionStart =
    """^(\s*)(?:(?:override|final|private|protected|implicit|@tailrec)(?:\[\w+\])?\s+)*def\s+([^\s(\[:]+)""".r

  /** Returns the functions of a source. The indentation, which the formatter sets, shows where a function ends. */
  def functions(file: Path): Vector[Function] = {
    val lines = code(file).split('\n').toVector
    lines.indices.toVector.flatMap { start =>
      functionStart.findFirstMatchIn(lines(start)).map { m =>
        Function(m.group(2), lastLine(lines, start, m.group(1).length) - start + 1)
      }
    }
  }

  /** Returns the index of the last line of a function. */
  private def lastLine(lines: Vector[String], start: Int, indentation: Int): Int = {
    @tailrec def next(i: Int, last: Int): Int =
      if (i == lines.size) last
      else if (lines(i).trim.isEmpty) next(i + 1, last)
      else {
        val depth = lines(i).prefixLength(_ == ' ')
        val closes = depth == indentation && ")}".contains(lines(i).trim.head)
        if (depth > indentation) next(i + 1, i)
        else if (closes && Seq("{", "(", "=", "=>").exists(lines(i).endsWith)) next(i + 1, i)
        else if (closes) i
        else last
      }
    next(start + 1, start)
  }
}
