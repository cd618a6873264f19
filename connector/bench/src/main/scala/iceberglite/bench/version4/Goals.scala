package iceberglite.bench.version4

import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V3, V4}

/** All measurements of one table. */
final case class Measured(
    version: FormatVersion,
    columns: Int,
    shape: TreeShape,
    commits: Vector[CommitCost],
    plans: Vector[PlanCost]
) {
  def files: Long = shape.files
  def commit(kind: CommitKind): Option[CommitCost] = commits.find(_.kind == kind.name)
  def plan(kind: PlanKind): Option[PlanCost] = plans.find(_.kind == kind.name)
}

/** A goal, and whether the measurements meet it. */
final case class Goal(name: String, columns: Int, measured: String, isMet: Boolean)

/** Checks the goals of version 4 against the measurements. */
object Goals {
  private val MaxRootBytes = 8L << 20

  /** The number of files for which the model predicts the costs. */
  val FilesOfModel = 1e8

  /** Planning counts as not slower up to this ratio of the times, because times vary between runs. */
  private val Tolerance = 1.1

  /**
   * Returns the goals for each number of columns.
   *
   * @param peers the appends of Apache Iceberg
   * @param models the cost models of version 4 by number of columns
   */
  def of(all: Vector[Measured], peers: Vector[PeerAppend], models: Map[Int, CostModel]): Vector[Goal] =
    all.map(_.columns).distinct.flatMap { columns =>
      val pairs = for {
        four <- all if four.columns == columns && four.version == V4
        three <- all.find(m => m.columns == columns && m.version == V3 && m.files == four.files)
      } yield Pair(three, four)
      if (pairs.isEmpty) Vector.empty
      else ofColumns(columns, pairs, models.get(columns)) ++ peerGoals(columns, pairs, peers)
    }

  /** The measurements of tables of versions 3 and 4 with the same files. */
  final private case class Pair(three: Measured, four: Measured) {
    def files: Long = four.files

    def commits(kind: CommitKind): Option[(CommitCost, CommitCost)] =
      three.commit(kind).flatMap(a => four.commit(kind).map(a -> _))

    def plans: Vector[(PlanCost, PlanCost)] =
      PlanKind.all.flatMap(k => three.plan(k).flatMap(a => four.plan(k).map(a -> _)))
  }

  private def ofColumns(columns: Int, pairs: Vector[Pair], model: Option[CostModel]): Vector[Goal] = {
    val largest = pairs.maxBy(_.files)
    val appends = pairs.flatMap(p => p.commits(CommitKind.AppendOne).map(p.files -> _))
    val deletes = largest.commits(CommitKind.DeleteOne).toVector.map(largest.files -> _)
    appendGoals(columns, appends) ++ deletes.map { case (files, (three, four)) =>
      val ratio = three.warm.writtenBytes.toDouble / four.warm.writtenBytes
      val factor = if (columns <= 10) 20 else 15
      Goal(s"a delete of one file writes $factor times fewer bytes than v3", columns, at(ratio, files), ratio >= factor)
    } ++ pruning(columns, largest) ++ rootSize(columns, pairs, model) ++ planning(columns, pairs)
  }

  private def at(value: Double, files: Long): String = f"$value%.2f at $files%,d files"

  private def appendGoals(columns: Int, appends: Vector[(Long, (CommitCost, CommitCost))]): Vector[Goal] =
    if (appends.isEmpty) Vector.empty
    else {
      val counts = appends.map(_._2._2.warm.writtenFiles)
      val maxBytes = if (columns <= 10) 2.5 else 10.0
      def worst(name: String, limit: Double, isLower: Boolean)(ratio: (CommitCost, CommitCost) => Double): Goal = {
        val all = appends.map { case (files, (three, four)) => ratio(three, four) -> files }
        val (value, files) = if (isLower) all.maxBy(_._1) else all.minBy(_._1)
        Goal(name, columns, at(value, files), if (isLower) value <= limit else value >= limit)
      }
      Vector(
        Goal("a small append writes one file of the metadata tree", columns, s"${counts.max}", counts.forall(_ == 1)),
        worst("with latency, a small append is 1.3 times as fast as v3", 1.3, isLower = false) {
          _.slowWarmMs / _.slowWarmMs
        },
        worst("with latency, it is 1.9 times as fast without metadata.json", 1.9, isLower = false) {
          _.slowTreeMs / _.slowTreeMs
        },
        worst(s"a small append writes at most $maxBytes times the bytes of v3", maxBytes, isLower = true) { (a, b) =>
          b.warm.writtenBytes.toDouble / a.warm.writtenBytes
        }
      )
    }

  private def peerGoals(columns: Int, pairs: Vector[Pair], peers: Vector[PeerAppend]): Vector[Goal] =
    for {
      pair <- pairs if pair.files == PeerAppends.Files
      (_, four) <- pair.commits(CommitKind.AppendOne).toVector
      peer <- peers if peer.columns == columns && peer.version == V3
      (name, limit, ratio) <- Vector(
        ("with latency, a small append is 1.3 times as fast as v3 of Apache Iceberg", 1.3, peer.ms / four.slowWarmMs),
        ("without metadata.json, it is 1.9 times as fast as v3 of Apache Iceberg", 1.9, peer.treeMs / four.slowTreeMs)
      )
    } yield Goal(name, columns, at(ratio, pair.files), ratio >= limit)

  private def pruning(columns: Int, largest: Pair): Vector[Goal] = {
    val kind = PlanKind.Clustered
    largest.three.plan(kind).flatMap(a => largest.four.plan(kind).map(a -> _)).toVector.map { case (three, four) =>
      val ratio = three.manifests.toDouble / four.manifests
      val name = "a predicate on a clustered column reads 5 times fewer manifests than v3"
      Goal(name, columns, at(ratio, largest.files), ratio >= 5)
    }
  }

  private def rootSize(columns: Int, pairs: Vector[Pair], model: Option[CostModel]): Vector[Goal] = {
    val measured = pairs.flatMap { p =>
      p.four.shape.topBytes +: p.four.commit(CommitKind.DeleteRandom).map(_.warm.largestFile).toVector
    }.max
    val predicted = model.map(_.top(FilesOfModel))
    val text = f"${measured / 1e6}%.2f MB measured" +
      predicted.fold("")(bytes => f", ${bytes / 1e6}%.2f MB predicted for 10^8 files")
    Vector(Goal(
      "no root exceeds 8 MiB below 10^8 files",
      columns,
      text,
      measured <= MaxRootBytes && predicted.forall(_ <= MaxRootBytes.toDouble)
    ))
  }

  private def planning(columns: Int, pairs: Vector[Pair]): Vector[Goal] =
    Vector[(String, PlanCost => Double)](("cold", _.coldMs), ("warm", _.warmMs)).map { case (name, time) =>
      val ratios = pairs.flatMap(p =>
        p.plans.map { case (three, four) => (time(four) / time(three), s"${three.kind}, ${p.files} files") }
      )
      val (ratio, where) = ratios.maxBy(_._1)
      Goal(s"$name planning is not slower than in v3", columns, f"$ratio%.2f ($where)", ratio <= Tolerance)
    }
}
