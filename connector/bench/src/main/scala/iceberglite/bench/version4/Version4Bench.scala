package iceberglite.bench.version4

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V2, V3, V4}
import iceberglite.spec.property.Version4Property

/**
 * Compares the metadata of format versions 2, 3 and 4 in one run: the cost of commits and of planning, the sizes after
 * many commits, and a cost model for larger tables. Small appends are also compared with those of Apache Iceberg. The
 * data files exist only in metadata, and the storage is in memory. At the end, the goals of version 4 are checked.
 *
 * Options, each followed by its value:
 *
 *   - `--files`: the numbers of files, separated by commas; by default `1000,10000,100000,1000000`
 *   - `--columns`: the numbers of columns with statistics; by default `10,50`
 *   - `--commits`: the number of appends after which the sizes of the metadata are measured; by default 1,000
 *   - `--latency`: the latency of a storage request in milliseconds; by default 100
 *   - `--parts`: the measurements, separated by commas; by default all of them: `trees` (commits and plans), `peers`,
 *     `histories`, `limits` and `vectors`
 *   - `--json`: a file for the results in JSON
 *
 * A million files with 50 columns need about 10 GB of heap.
 */
object Version4Bench {
  private val versions: Vector[FormatVersion] = Vector(V2, V3, V4)
  private val SmallFiles = 1000

  /** The limits of data files in the root that are compared with the default. */
  private val FilesInRoot = (Version4Property.MaxDataFiles.default +: Vector(16, 200, 1000)).sorted

  /** The number of commits for the comparison of limits, if not fewer commits are to be measured. */
  private val CommitsOfLimits = 1000

  private val Parts = Set("trees", "peers", "histories", "limits", "vectors")

  private case class Options(
      files: Vector[Int] = Vector(1000, 10000, 100000, 1000000),
      columns: Vector[Int] = Vector(10, 50),
      commits: Int = 1000,
      latencyMs: Long = 100,
      parts: Set[String] = Parts,
      json: Option[String] = None
  )

  def main(args: Array[String]): Unit = {
    val options = parse(Options(), args.toList)
    warmUp()
    def columnsOf(part: String): Vector[Int] = if (options.parts(part)) options.columns else Vector.empty
    val measured = for (columns <- columnsOf("trees"); files <- options.files; version <- versions)
      yield measure(version, columns, files, options)
    val histories = for (columns <- columnsOf("histories"); version <- versions)
      yield (version, columns, HistorySizes.of(version, columns, options.commits))
    val limits = for (columns <- columnsOf("limits"); inRoot <- FilesInRoot)
      yield (columns, inRoot, HistorySizes.of(V4, columns, math.min(options.commits, CommitsOfLimits), limitOf(inRoot)))
    val vectors =
      for (columns <- columnsOf("vectors"); removed <- VectorSizes.Removed; inline <- Vector(true, false))
        yield VectorSizes.of(columns, removed, inline)
    val peers = for (columns <- columnsOf("peers"); version <- versions if version < V4)
      yield PeerAppends.of(version, columns, options.latencyMs)
    val models = (for {
      columns <- columnsOf("trees")
      version <- versions
      model <- modelOf(measured.filter(m => m.version == version && m.columns == columns))
    } yield (version, columns) -> model).toMap
    val goals = Goals.of(measured, peers, models.collect { case ((V4, columns), model) => columns -> model })
    val sections = Vector(
      Sections.trees(measured),
      Sections.commits(measured, options.latencyMs),
      Sections.peers(peers, measured, options.latencyMs),
      Sections.plans(measured, options.latencyMs),
      Sections.histories(histories),
      Sections.limits(limits),
      Sections.vectors(vectors),
      Sections.parameters(models),
      Sections.predictions(measured, models, Goals.FilesOfModel),
      Sections.goals(goals)
    ).filter(_.rows.nonEmpty)
    sections.foreach(section => println(section.markdown))
    options.json.foreach(path => Files.write(Paths.get(path), Section.json(sections).getBytes(UTF_8)))
  }

  private def parse(options: Options, args: List[String]): Options = args match {
    case Nil => options
    case "--files" :: value :: rest => parse(options.copy(files = numbers(value)), rest)
    case "--columns" :: value :: rest => parse(options.copy(columns = numbers(value)), rest)
    case "--commits" :: value :: rest => parse(options.copy(commits = value.toInt), rest)
    case "--latency" :: value :: rest => parse(options.copy(latencyMs = value.toLong), rest)
    case "--parts" :: value :: rest if value.split(',').toSet.subsetOf(Parts) =>
      parse(options.copy(parts = value.split(',').toSet), rest)
    case "--json" :: value :: rest => parse(options.copy(json = Some(value)), rest)
    case other => throw new IllegalArgumentException(s"Unknown, incomplete or invalid option: ${other.mkString(" ")}")
  }

  private def limitOf(filesInRoot: Int): Map[String, String] =
    Map(Version4Property.MaxDataFiles.key -> filesInRoot.toString)

  private def numbers(list: String): Vector[Int] = list.split(',').map(_.trim.toInt).toVector.sorted

  private def warmUp(): Unit = for (version <- versions) {
    val table = new BenchTable(version, new SyntheticFiles(10, SmallFiles), SmallFiles)
    CommitKind.all.filter(_.minFiles <= SmallFiles).foreach(CommitCost.of(_, table, latencyMs = 0))
    PlanKind.all.foreach(PlanCost.of(_, table, latencyMs = 0))
  }

  private def measure(version: FormatVersion, columns: Int, files: Int, options: Options): Measured = {
    val seconds = ManagementFactory.getRuntimeMXBean.getUptime / 1000
    Console.err.println(s"$seconds s: v${version.number}, $columns columns, $files files")
    val table = new BenchTable(version, new SyntheticFiles(columns, files), files)
    Measured(
      version,
      columns,
      TreeShape.of(table),
      CommitKind.all.filter(_.minFiles <= files).map(CommitCost.of(_, table, options.latencyMs)),
      PlanKind.all.map(PlanCost.of(_, table, options.latencyMs))
    )
  }

  /**
   * Returns the cost model for tables of one version and number of columns. Its parameters come from two tables with
   * few files and from the second largest measured table, so that the largest one checks the model.
   *
   * @return absent if the second largest table has no manifests besides the root
   */
  private def modelOf(measured: Vector[Measured]): Option[CostModel] = {
    val calibration = measured.sortBy(-_.files).take(2).last
    def shape(files: Int) = TreeShape.of(
      new BenchTable(calibration.version, new SyntheticFiles(calibration.columns, files), files)
    )
    if (calibration.shape.manifests == 0) None
    else Some(CostModel.of(
      calibration.version,
      shape(1),
      // The root of this table lists all files itself in version 4.
      shape(Version4Property.MaxDataFiles.default),
      calibration.shape,
      calibration.commit(CommitKind.AppendOne).fold(0L)(_.warm.writtenBytes)
    ))
  }
}
