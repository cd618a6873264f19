package iceberglite

import java.nio.file.{Files, Path, Paths}

import scala.annotation.tailrec
import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

/**
 * Checks which packages and libraries each package may use. The build separates the modules spec, core and spark by
 * their class paths; this suite mainly checks the packages inside each module.
 */
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

  private def isInAny(name: String, prefixes: Seq[String]): Boolean =
    prefixes.exists(p => name == p || name.startsWith(p + "."))

  test("spec uses no Spark, no Hadoop, no clock and no I/O; only its JSON and REST code may import java.io") {
    val outside = Seq("org", "com", "java.io", "java.net", "java.sql", "java.nio.file", "java.nio.channels")
    val json = Seq("com.fasterxml.jackson", "java.io")
    val violations = importsOf("spec/src/main").filter { case (file, name) =>
      isInAny(name, outside) && !(isInAny(name, json) && Seq("/json/", "/rest/").exists(file.toString.contains(_)))
    }
    assert(violations.isEmpty)
    val clock =
      """System\.(currentTimeMillis|nanoTime)|Instant\.now|UUID\.randomUUID|new Random|java\.io\.File\b|\bFiles\.""".r
    val impure =
      sources("spec/src/main").filter(f => clock.findFirstIn(new String(Files.readAllBytes(f), "UTF-8")).isDefined)
    assert(impure.isEmpty)
  }

  private val packageClause = """^package ([\w.]+)""".r
  private val otherPackage = """\biceberglite((?:\.[a-z]\w*)*)\.[A-Z{_]""".r

  /** The package of a file and the packages that its code names, without the prefix `iceberglite.`. */
  private def usesOf(file: Path): (String, Set[String]) = {
    val lines = Files.readAllLines(file).asScala.toVector
    val ownPackage = lines.flatMap(packageClause.findFirstMatchIn(_)).head.group(1)
    val code = lines.filterNot(isComment).map(_.replaceAll("\"[^\"]*\"", ""))
    val used = code.flatMap(otherPackage.findAllMatchIn(_).map(m => m.group(1).stripPrefix(".")))
    (ownPackage.stripPrefix("iceberglite."), used.toSet - ownPackage.stripPrefix("iceberglite."))
  }

  private def packagesOf(files: Seq[Path]): Map[String, Set[String]] =
    files.map(usesOf).groupBy(_._1).mapValues(_.flatMap(_._2).toSet).map(identity)

  /** Returns the packages that are part of a dependency cycle. */
  private def cyclic(uses: Map[String, Set[String]]): Set[String] = {
    @tailrec def reached(known: Set[String]): Set[String] = {
      val next = known ++ known.flatMap(uses.getOrElse(_, Set.empty))
      if (next.size == known.size) known else reached(next)
    }
    uses.keySet.filter(name => reached(uses(name)).contains(name))
  }

  /**
   * Files that list all implementations of a trait. Each implementation is in its own package, which uses the package
   * of the trait. Therefore these files would form dependency cycles.
   */
  private val registries = Set(
    "core/src/main/scala/iceberglite/catalog/Catalogs.scala",
    "core/src/main/scala/iceberglite/catalog/CatalogProperties.scala",
    "core/src/main/scala/iceberglite/data/DataFormats.scala",
    "core/src/main/scala/iceberglite/tree/MetadataTrees.scala"
  ).map(connector.resolve)

  test("packages have no dependency cycles, except spec.expr and spec.partition, which use each other") {
    val files = Seq("spec", "core", "spark").flatMap(p => sources(s"$p/src/main"))
      .filterNot(registries)
    assert(registries.forall(Files.exists(_)))
    assert(cyclic(packagesOf(files)) == Set("spec.expr", "spec.partition"))
  }

  /** Each package of core, with the packages that it may use in addition to `spec`. */
  private val layers: Seq[(String, Set[String])] = {
    val files = Set("encryption", "storage", "avro", "parquet", "metrics", "puffin")
    Seq(
      "encryption" -> Set(),
      "storage" -> Set("encryption"),
      "metrics" -> Set(),
      "avro" -> Set("storage"),
      "parquet" -> Set("avro", "encryption", "metrics", "storage"),
      "puffin" -> Set("encryption", "storage"),
      "data" -> files,
      "tree" -> Set("avro", "encryption", "storage", "puffin", "data"),
      "scan" -> (files ++ Set("tree", "data")),
      "table" -> (files ++ Set("tree", "scan")),
      "maintenance" -> (files ++ Set("scan", "table", "tree", "data")),
      "inspect" -> (files ++ Set("scan", "table", "tree", "maintenance", "data")),
      "catalog" -> (files ++ Set("maintenance", "scan", "table", "tree"))
    )
  }

  private def top(name: String): String = name.takeWhile(_ != '.')

  test("packages of core use only the packages below them") {
    val found = packagesOf(sources("core/src/main")).groupBy(p => top(p._1)).mapValues(_.values.flatten.map(top).toSet)
    val allowed = layers.toMap
    assert(found.keySet == allowed.keySet)
    val violations = for ((name, uses) <- found; used <- uses if used != name && used != "spec" && !allowed(name)(used))
      yield s"$name uses $used"
    assert(violations.isEmpty)
  }

  test("subpackages of iceberglite.spark do not use the entry points, which are in iceberglite.spark itself") {
    val subpackages = sources("spark/src/main").map(usesOf).filter(_._1.startsWith("spark."))
    assert(subpackages.nonEmpty && subpackages.forall(!_._2("spark")))
  }

  private def isComment(line: String): Boolean = Seq("*", "/*", "//").exists(line.trim.startsWith(_))

  test("only the tree packages of core and the metadata tables of manifests use manifests and their codecs") {
    val manifests = """\b(ManifestFile|Manifests|ManifestLists|ManifestListTree|ManifestListFiles|ManifestPart)\b""".r
    // The metadata tables `manifests` and `all_manifests` show manifests, and therefore may use their types.
    val manifestTables =
      Seq("/inspect/ManifestColumns.scala", "/inspect/ManifestsTable.scala", "/inspect/AllManifestsTable.scala")
    val outside =
      sources("core/src/main").filterNot(f => f.toString.contains("/tree/")) ++
        sources("spark/src/main")
    val violations = for {
      file <- outside if !manifestTables.exists(file.toString.endsWith)
      line <- Files.readAllLines(file).asScala
      if !isComment(line) && manifests.findFirstIn(line.replaceAll("\"[^\"]*\"", "")).isDefined
    } yield s"$file: ${line.trim}"
    assert(violations.isEmpty)
    val users = outside.filter(usesOf(_)._2.exists(_.startsWith("tree.manifestlist")))
    assert(users.isEmpty)
  }

  test("core does not use Spark") {
    assert(importsOf("core/src/main").filter(_._2.startsWith("org.apache.spark")).isEmpty)
  }

  test("the connector does not use classes of Apache Iceberg") {
    assert(Seq("spec", "core", "spark").flatMap(p => importsOf(s"$p/src/main")).filter(
      _._2.startsWith("org.apache.iceberg")
    ).isEmpty)
  }

  test("files that can use private[spark] members of Spark are only in org.apache.spark.sql.iceberglite") {
    val inSpark = sources("spark/src/main").filter { f =>
      Files.readAllLines(f).asScala.exists(_.startsWith("package org.apache.spark"))
    }
    assert(inSpark.forall(_.toString.contains("org/apache/spark/sql/iceberglite/")))
  }

  test("no source of the modules spec, core and spark is longer than 400 lines") {
    val long = Seq("spec", "core", "spark").flatMap(p => sources(s"$p/src")).map(f => f -> Files.readAllLines(f).size)
      .filter(_._2 > 400)
    assert(long.isEmpty)
  }
}
