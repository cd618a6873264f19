package iceberglite

import java.nio.file.Path

import scala.util.matching.Regex

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.DataFormats
import iceberglite.spec.file.FileFormat

/**
 * Checks that only one class evaluates the filters of queries on files, that only one class commits writes, that only
 * the registries import the packages of file formats, and that only one class represents a finished file.
 */
class SingleImplementationSuite extends AnyFunSuite {
  private val sources: Vector[Path] = Seq("core", "spark").flatMap(p => SourceFiles.in(s"$p/src/main")).toVector

  /** Returns the short names of the sources whose code contains a match of the pattern. */
  private def sourcesWith(pattern: Regex, files: Vector[Path] = sources): Set[String] =
    files.filter(f => pattern.findFirstIn(SourceFiles.code(f)).isDefined).map(SourceFiles.shortName).toSet

  test("only FileFilter evaluates the filters of queries on the partitions and metrics of files") {
    val engine = ("""\bnew (?:InclusiveMetrics|StrictMetrics|ManifestEvaluator|Residual)\b|""" +
      """\bProject\.(?:inclusive|strict)\b|\bEvaluate\.tuple\b""").r
    val partsOfFiles = Set("data/orc/OrcSkipping.scala") // stripes and row groups, which are not files of a table
    val others = Set(
      "scan/PartReader.scala", // the keys of equality delete files, which have no partition filter
      "tree/FilePartitions.scala", // the partitions of known files, without a filter of a query
      "inspect/EntryRows.scala" // filters on the columns of metadata tables
    )
    assert(sourcesWith(engine) == partsOfFiles ++ others + "scan/FileFilter.scala")
  }

  test("each write of Spark commits and aborts through WriteCommit") {
    // `CollectingWrite` only collects the files of a rewrite. `DataFileRewrite` commits or removes these files through
    // `WriteCommit`.
    val writes = sourcesWith("""\b(?:extends|with)\s+(?:BatchWrite|DeltaBatchWrite|StreamingWrite)\b""".r) -
      "spark/maintenance/CollectingWrite.scala"
    assert(writes.size >= 3)
    val ends = for {
      file <- sources if writes(SourceFiles.shortName(file))
      d <- SourceFiles.definitions(SourceFiles.code(file)) if d.isOverride && Set("commit", "abort")(d.name)
      // A blank line follows each of these methods.
    } yield s"${SourceFiles.shortName(file)}:${d.name}" -> d.body.split("\n\n").head.contains(s"writeCommit.${d.name}(")
    assert(ends.size == 2 * writes.size && ends.forall(_._2))
  }

  test("only WriteCommit removes the files of a failed write, and decides whether a write was committed") {
    assert(sourcesWith("""\bUncommittedFiles\.remove\b""".r) == Set("spark/write/WriteCommit.scala"))
    val writing = sources.filter(f =>
      Seq("spark/write/", "spark/rowlevel/", "spark/stream/sink/")
        .exists(SourceFiles.shortName(f).startsWith)
    )
    val outcomes = """\bcase \w+: (?:CommitStateUnknown|AlreadyCommitted|CommitConflict)\b""".r
    assert(sourcesWith(outcomes, writing) == Set("spark/write/WriteCommit.scala"))
    // An upsert adds an unpartitioned spec before it writes. This commit contains no files.
    val transactions = Set("spark/write/WriteCommit.scala", "spark/write/upsert/UpsertTasks.scala")
    assert(sourcesWith("""\.transaction\(""".r, writing) == transactions)
  }

  private val registries = Seq(
    "data/DataFormats.scala",
    "spark/read/BatchFormats.scala",
    "spark/write/DataFileFormats.scala"
  )

  /** The sources outside the packages of the formats. */
  private val outsideFormats = sources.filterNot(f => Seq("/parquet/", "/orc/", "/avro/").exists(f.toString.contains))

  test("each format is one member of each registry; only registries and manifest code import format packages") {
    assert(DataFormats.all.map(_.format) == FileFormat.ofRows)
    val members = """val all: Seq\[\w+\] =\s+Seq\(([^\n]*)\)\n""".r
    registries.foreach { name =>
      val code = SourceFiles.code(sources.find(SourceFiles.shortName(_) == name).get)
      assert(members.findFirstMatchIn(code).map(_.group(1).split(", ").length).contains(FileFormat.ofRows.size), name)
    }
    // These sources read or write manifests, which are Parquet files in version 4.
    val metadata = Set(
      "tree/manifestlist/ColumnarManifests.scala",
      "tree/root/LeafStatistics.scala",
      "tree/root/RootManifests.scala"
    )
    val imports = """\bimport iceberglite\.(?:data|spark\.read|spark\.write)\.(?:parquet|orc|avro)\b""".r
    assert(sourcesWith(imports, outsideFormats) == registries.toSet ++ metadata)
  }

  test("no code outside the packages of formats and of metadata trees distinguishes formats of data files") {
    val ofTrees = outsideFormats.filterNot(f => SourceFiles.shortName(f).startsWith("tree/"))
    assert(sourcesWith("""\bFileFormat\.(?:Parquet|Orc|Avro)\b""".r, ofTrees) == Set.empty[String])
  }

  test("only WrittenFile has the metrics of a file that was written") {
    val finished = """\bclass (\w+)[\w\[\]\s]*\((?:[^()]|\([^()]*\))*?\bmetrics: Metrics\b""".r
    val types = sources.flatMap(f => finished.findAllMatchIn(SourceFiles.code(f)).map(_.group(1))).toSet
    // `Summary` describes the rows inside a root of version 4, which are not a file.
    assert(types - "Summary" == Set("WrittenFile"))
  }
}
