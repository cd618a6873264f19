package iceberglite

import java.nio.file.{Files, Path}

import scala.annotation.tailrec

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.SourceFiles.Definition

/** Checks rules about the text of the sources, which the compiler does not check. */
class SourceRulesSuite extends AnyFunSuite {
  private val spark: Vector[Path] = SourceFiles.in("spark/src/main")

  /** Matches a class that implements an interface through which Spark calls the connector on the driver. */
  private val callable =
    ("""\b(?:extends|with)\s+(?:Table|TableCatalog|StagingTableCatalog|LiteCatalog|FunctionCatalog|""" +
      """CatalogExtension|TableProvider|PinnableTable|StagedTable|SparkStagedTable|ScanBuilder|Scan|LocalScan|""" +
      """Batch|""" +
      """WriteBuilder|Write|BatchWrite|DeltaWriteBuilder|DeltaWrite|DeltaBatchWrite|RowLevelOperation|""" +
      """RequiresDistributionAndOrdering|SupportsDelta|SupportsNamespaces|SupportsCatalogOptions|SupportsWrite|""" +
      """SupportsPushDown\w+|SupportsReport\w+|SupportsOverwriteV2|LeafRunnableCommand)\b""").r

  /**
   * Sources whose classes implement these interfaces without `ErrorBoundary`. The comment at each source says why.
   */
  private val delegating = Set(
    "spark/IcebergSource.scala", // calls catalogs, and converts only errors about its options
    "spark/SparkSessionCatalog.scala", // calls `SparkCatalog` and Spark's catalog
    "spark/catalog/FunctionOperations.scala", // throws only errors of Spark
    "spark/maintenance/CollectingWrite.scala", // runs within procedures, which convert the errors
    "spark/maintenance/RewriteScan.scala", // runs within procedures, which convert the errors
    "spark/maintenance/RewriteSortOrders.scala", // only returns values
    "spark/read/aggregate/AggregateScan.scala", // only returns values
    "spark/session/ColumnDefinitionCatalog.scala", // calls other methods of the catalog
    "spark/session/LiteCatalog.scala", // an interface
    "spark/session/PinnableTable.scala", // an interface
    "spark/sql/CallCommand.scala", // converts the errors with the name of the procedure
    "spark/sql/DeferredStatement.scala", // plans other statements
    "spark/sql/RetriedStatement.scala", // plans other statements
    "spark/table/UnstagedTable.scala" // calls a table of another catalog
  )

  /** Sources that convert errors with a name that depends on the arguments of a method. */
  private val namedByArgument = Set("spark/SparkCatalog.scala", "spark/catalog/NamespaceOperations.scala")

  private def hasBoundary(file: Path, code: String): Boolean =
    code.contains("ErrorBoundary") || namedByArgument(SourceFiles.shortName(file))

  test("sources of classes that Spark calls use ErrorBoundary, which converts errors, or are listed as exceptions") {
    val violations = spark.filterNot(f => delegating(SourceFiles.shortName(f))).filter { file =>
      val code = SourceFiles.code(file)
      callable.findFirstIn(code).isDefined && !hasBoundary(file, code) && !code.contains("extends SparkTable")
    }
    assert(violations.isEmpty)
    assert(delegating.forall(f => Files.exists(SourceFiles.connector.resolve(s"spark/src/main/scala/iceberglite/$f"))))
  }

  /**
   * The methods of `java.lang.Object`, from which Spark does not expect errors, and `errorName`, which returns a name
   * for error messages.
   */
  private val ofObjects = Set("toString", "equals", "hashCode", "errorName")

  /**
   * Matches bodies that cannot fail: a literal, a reference to an existing value (names without arguments), or a new
   * builder, whose own methods are also checked.
   */
  private val value = """^(?:(?:-?\w+(?:\.\w+)*|s?0)\s*(?:\n|$)|new \w+Builder \{)""".r

  private val boundary = """^(?:\w+\.)?in\b\s*[({]""".r

  test("every method that Spark calls, and that can fail, converts its errors to errors of Spark") {
    val violations = for {
      file <- spark
      code = SourceFiles.code(file) if hasBoundary(file, code)
      definitions = SourceFiles.definitions(code)
      converting = convertingNames(definitions)
      d <- definitions
      if d.isOverride && !ofObjects(d.name) && !isConverting(converting)(d) && value.findFirstIn(d.body).isEmpty
      if !notOfSpark(s"${SourceFiles.shortName(file)}:${d.name}")
    } yield s"${SourceFiles.shortName(file)}:${d.line} ${d.name}"
    assert(violations.isEmpty)
  }

  /**
   * Overriding methods in the same sources that Spark does not call on the driver, or that cannot fail. `FileTask`
   * converts the errors of methods that executors call.
   */
  private val notOfSpark = Set(
    "spark/write/IcebergBatchWrite.scala:createWriter", // called by executors
    "spark/sql/TableCommand.scala:actions", // called by `change`
    "spark/sql/TableCommand.scala:change", // called by `run`, which converts its errors
    "spark/read/IcebergBatch.scala:apply", // a method of `SharedDeletes`
    "spark/read/IcebergScan.scala:fieldNames", // a method of `ColumnReference`
    "spark/view/WriteView.scala:childrenToAnalyze", // only returns its query
    "spark/view/WriteView.scala:markAsAnalyzed", // only copies the plan
    "spark/view/WriteView.scala:withNewChildrenInternal" // only copies the plan
  )

  private def isConverting(names: Set[String])(d: Definition): Boolean =
    boundary.findFirstIn(d.body).isDefined || names.exists(n => d.body.startsWith(s"$n("))

  /** The methods that convert their errors themselves, or only call such a method. */
  private def convertingNames(definitions: Vector[Definition]): Set[String] = {
    @tailrec def extended(names: Set[String]): Set[String] = {
      val next = definitions.filter(isConverting(names)).map(_.name).toSet
      if (next == names) names else extended(next)
    }
    extended(Set.empty)
  }

  private val all: Vector[Path] = Seq("spec", "core", "spark").flatMap(p => SourceFiles.in(s"$p/src/main")).toVector

  /** Functions of more than 30 lines that have a line for each field or for each case of the specification. */
  private val bySpecification = Set(
    "spec/json/TableMetadataReader.scala:read",
    "spec/metadata/TableMetadata.scala:apply",
    "spec/metadata/TableMetadata.scala:copy",
    "spec/update/MetadataBuilder.scala:applyUpdate",
    "spec/json/MetadataUpdateJson.scala:write"
  )

  /** All functions that may have more than 30 lines. This list must not grow. */
  private val longFunctions = bySpecification ++ Set(
    "maintenance/compact/FileGroup.scala:plan"
  )

  test("a function has at most 30 lines, except the functions that this suite lists") {
    val long = for (file <- all; f <- SourceFiles.functions(file) if f.length > 30)
      yield s"${SourceFiles.shortName(file)}:${f.name}"
    assert(bySpecification.subsetOf(long.toSet))
    assert((long.toSet -- longFunctions).isEmpty)
  }

  /** Structs of the specification, with a parameter for each field. */
  private val structs = Set(
    "spec/metadata/TableMetadata.scala:TableMetadata",
    "spec/metadata/TableMetadata.scala:apply",
    "spec/metadata/TableMetadata.scala:copy",
    "spec/metadata/Snapshot.scala:Snapshot",
    "spec/file/ContentFile.scala:ContentFile",
    "spec/file/ContentFile.scala:ManifestFile",
    "spec/view/ViewMetadata.scala:ViewVersion",
    "maintenance/PartitionStatistics.scala:PartitionStatistics",
    "tree/root/ContentEntry.scala:ContentEntry"
  )

  /** Records with a field for each option, for each reported number or for each value that a task needs. */
  private val records = Set(
    "maintenance/compact/GroupOptions.scala:GroupOptions",
    "maintenance/health/TableHealth.scala:DataFileHealth",
    "maintenance/health/TableHealth.scala:DeleteFileHealth",
    "scan/FileScanTask.scala:FileScanTask",
    "scan/ScanPlan.scala:ScanReport",
    "spark/conf/ReadOptions.scala:ReadSettings",
    "spark/read/files/FileTask.scala:FileTask",
    "tree/root/RootLimits.scala:RootLimits"
  )

  test("a parameter list has at most 8 parameters, except in structs of the specification and in records") {
    val long = for {
      file <- all
      (name, count) <- SourceFiles.parameterCounts(SourceFiles.code(file)) if count > 8
    } yield s"${SourceFiles.shortName(file)}:$name"
    assert(structs.subsetOf(long.toSet))
    assert((long.toSet -- structs -- records).isEmpty)
  }

  private val topLevelType =
    """(?m)^(?:(?:sealed|final|abstract|case|implicit|private(?:\[\w+\])?)\s+)*(?:class|trait|object)\s+(\w+)""".r

  test("a name denotes one type: no two packages have a top-level type of the same name") {
    val packagesOf = all.flatMap { file =>
      val code = SourceFiles.code(file)
      val folder = SourceFiles.shortName(file).split('/').init.mkString("/")
      topLevelType.findAllMatchIn(code).map(_.group(1) -> folder)
    }.groupBy(_._1).mapValues(_.map(_._2).distinct)
    assert(packagesOf.size > 1000)
    assert(packagesOf.filter(_._2.size > 1).keySet.isEmpty)
  }

  test("a line has at most 120 characters, also in comments and strings, which the formatter does not wrap") {
    val folders = SourceFiles.connector.toFile.list.toVector.sorted
    val projects = folders.filter(p => Files.isDirectory(SourceFiles.connector.resolve(s"$p/src")))
    val long = for {
      file <- projects.flatMap(p => SourceFiles.in(s"$p/src"))
      (line, i) <- new String(Files.readAllBytes(file), "UTF-8").split('\n').zipWithIndex if line.length > 120
    } yield s"$file:${i + 1}"
    assert(projects.contains("spark") && long.isEmpty)
  }

  test("no member is private[spark], because Spark also has a package spark; private[iceberglite] is used instead") {
    assert(all.filter(f => SourceFiles.code(f).contains("private[spark]")).isEmpty)
  }

  /** The number of assertions on parts of error messages. It may only become smaller. */
  private val messageAssertions = 448

  test("the number of assertions on parts of error messages does not grow") {
    val tests = Seq("spec", "core", "spark").flatMap(p => SourceFiles.in(s"$p/src/test"))
    val found = tests.map(f => """\bgetMessage\.contains\b""".r.findAllIn(SourceFiles.code(f)).size).sum
    assert(found <= messageAssertions)
  }

  /**
   * Matches code that the connector's analyzer and optimizer rules must not contain, because the code keeps state, or
   * changes the session or the state of a statement.
   */
  private val impure =
    """(?:^|[({;\s])var\s|\.experimental\b|\bconf\.set|\.unsetConf\b|\.context\.(?!analysis\b)|\bupdateAnalysis\b""".r

  /** The only lines in which rules publish results in a `StatementContext`, by the name of the source file. */
  private val publications = Set(
    "spark/rules/PrepareRowLevelOperations.scala" -> ".context.publish(",
    "spark/rules/PrepareRowLevelOperations.scala" -> ".context.publishExactVariants(",
    "spark/rules/RewriteMergeJoin.scala" -> ".context.publishReadTasks("
  )

  test("Spark rules keep no state, and change the state of a statement only by publishing in its context") {
    val rules = SourceFiles.in("spark/src/main/scala/iceberglite/spark/rules")
    val found = for {
      file <- rules
      line <- SourceFiles.code(file).split('\n') if impure.findFirstIn(line).isDefined
    } yield SourceFiles.shortName(file) -> line.trim
    assert(rules.size > 10)
    val violations = found.filterNot { case (file, line) =>
      publications.exists(p => p._1 == file && line.contains(p._2))
    }
    assert(violations.isEmpty)
    assert(found.size == publications.size)
  }
}
