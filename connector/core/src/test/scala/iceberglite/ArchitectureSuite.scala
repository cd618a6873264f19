package iceberglite

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

/** Who may import whom. The class path keeps spec, core and spark apart; this keeps the rooms inside of them apart. */
class ArchitectureSuite extends AnyFunSuite {
  private val connector: Path = Paths.get("connector")

  private def sources(folder: String): Vector[Path] = {
    val files = Files.walk(connector.resolve(folder))
    try files.iterator.asScala.filter(_.toString.endsWith(".scala")).toVector.sorted
    finally files.close()
  }

  private def imports(file: Path): Vector[String] =
    Files.readAllLines(file).asScala.toVector.map(_.trim).filter(_.startsWith("import ")).map(_.stripPrefix("import "))

  private def importsOf(folder: String): Vector[(Path, String)] = sources(folder).flatMap(f => imports(f).map(f -> _))

  private def among(name: String, prefixes: Seq[String]): Boolean =
    prefixes.exists(p => name == p || name.startsWith(p + "."))

  test("the rules of the specification see no Spark, no Hadoop, no I/O and no clock") {
    val outside = Seq("org", "com", "java.io", "java.net", "java.sql", "java.nio.file", "java.nio.channels")
    val json = Seq("com.fasterxml.jackson", "java.io")
    val bad = importsOf("spec/src/main").filter { case (file, name) =>
      among(name, outside) && !(among(name, json) && file.toString.contains("/json/"))
    }
    assert(bad.isEmpty)
    val clock =
      """System\.(currentTimeMillis|nanoTime)|Instant\.now|UUID\.randomUUID|new Random|java\.io\.File\b|\bFiles\.""".r
    val impure =
      sources("spec/src/main").filter(f => clock.findFirstIn(new String(Files.readAllBytes(f), "UTF-8")).isDefined)
    assert(impure.isEmpty)
  }

  /** Each room of core, with the rooms it may use. */
  private val rooms: Seq[(String, Set[String])] = Seq(
    "io" -> Set("io"),
    "data" -> Set("data", "io"),
    "tree" -> Set("tree", "io"),
    "table" -> Set("table", "tree", "io"),
    "scan" -> Set("scan", "tree", "data", "io"),
    "inspect" -> Set("inspect", "scan", "table", "tree", "io"),
    "maintenance" -> Set("maintenance", "scan", "table", "tree", "data", "io"),
    "catalog" -> Set("catalog", "maintenance", "table", "tree", "io")
  )

  test("the rooms of core use only the rooms below them") {
    val room = """iceberglite\.([a-z]+)\b.*""".r
    val bad = rooms.flatMap { case (name, allowed) =>
      importsOf(s"core/src/main/scala/iceberglite/$name").collect {
        case (file, imported @ room(used)) if used != "spec" && !allowed(used) => s"$file imports $imported"
      }
    }
    assert(bad.isEmpty)
    val known = rooms.map(_._1).toSet
    val folders = Files.list(connector.resolve("core/src/main/scala/iceberglite"))
    try assert(folders.iterator.asScala.map(_.getFileName.toString).toSet == known)
    finally folders.close()
  }

  private def isComment(line: String): Boolean = Seq("*", "/*", "//").exists(line.trim.startsWith(_))

  test("manifests and their codecs are known to metadata trees alone") {
    val manifests = """\b(ManifestFile|Manifests|ManifestLists|ManifestListTree|ManifestListFiles|ManifestPart)\b""".r
    // The metadata tables `manifests` and `all_manifests` show them.
    val shown =
      Seq("/inspect/ManifestColumns.scala", "/inspect/ManifestsTable.scala", "/inspect/AllManifestsTable.scala")
    val outside =
      sources("core/src/main").filterNot(f => f.toString.contains("/tree/") || f.toString.contains("/io/")) ++
        sources("spark/src/main")
    val bad = for {
      file <- outside if !shown.exists(file.toString.endsWith)
      line <- Files.readAllLines(file).asScala
      if !isComment(line) && manifests.findFirstIn(line.replaceAll("\"[^\"]*\"", "")).isDefined
    } yield s"$file: ${line.trim}"
    assert(bad.isEmpty)
  }

  test("core sees no Spark") {
    assert(importsOf("core/src/main").filter(_._2.startsWith("org.apache.spark")).isEmpty)
  }

  test("the connector sees nothing of another implementation") {
    assert(Seq("spec", "core", "spark").flatMap(p => importsOf(s"$p/src/main")).filter(
      _._2.startsWith("org.apache.iceberg")
    ).isEmpty)
  }

  test("only the bridge in Spark's own package reaches Scala-private members of Spark") {
    val inSpark = sources("spark/src/main").filter { f =>
      Files.readAllLines(f).asScala.exists(_.startsWith("package org.apache.spark"))
    }
    assert(inSpark.forall(_.toString.contains("org/apache/spark/sql/iceberglite/")))
  }

  test("no file is longer than 400 lines") {
    val long = Seq("spec", "core", "spark").flatMap(p => sources(s"$p/src")).map(f => f -> Files.readAllLines(f).size)
      .filter(_._2 > 400)
    assert(long.isEmpty)
  }
}
