package iceberglite.bench.version4

import iceberglite.bench.version4.Cell.{Count, Number, Text}
import iceberglite.spec.FormatVersion

/** The tables that the benchmark of version 4 prints. */
object Sections {
  private val key = Vector("columns", "files", "version")

  private def keyOf(m: Measured): Vector[Cell] =
    Vector(Count(m.columns.toLong), Count(m.files), Text(s"v${m.version.number}"))

  /** Sorts measurements so that the versions of the same table are in consecutive rows. */
  private def sorted(all: Vector[Measured]): Vector[Measured] =
    all.sortBy(m => (m.columns, m.files, m.version.number))

  def trees(all: Vector[Measured]): Section = Section(
    "Metadata trees",
    key ++ Vector(
      "list or root, bytes",
      "files in the root",
      "manifests",
      "largest manifest, files",
      "manifests, bytes"
    ),
    sorted(all).map { m =>
      val s = m.shape
      keyOf(m) ++
        Vector(s.topBytes, s.inlineFiles, s.manifests, s.largestManifest, s.manifestBytes).map(Count)
    }
  )

  def commits(all: Vector[Measured], latencyMs: Long): Section = {
    val names = Vector(
      "files written",
      "bytes written",
      "metadata.json, bytes",
      "reads, cold",
      "bytes read, cold",
      "reads, warm",
      "ms",
      s"ms at $latencyMs ms, cold",
      s"ms at $latencyMs ms, warm",
      s"ms at $latencyMs ms, warm, without metadata.json"
    )
    val rows =
      for {
        kind <- CommitKind.all
        m <- sorted(all)
        c <- m.commit(kind)
      } yield Text(kind.name) +: (keyOf(m) ++ Vector(
        Count(c.warm.writtenFiles),
        Count(c.warm.writtenBytes),
        Count(c.warm.tableMetadataBytes),
        Count(c.cold.reads),
        Count(c.cold.readBytes),
        Count(c.warm.reads),
        Number(c.fastMs),
        Number(c.slowColdMs),
        Number(c.slowWarmMs),
        Number(c.slowTreeMs)
      ))
    Section("Commits", Vector("commit") ++ key ++ names, rows)
  }

  /** Returns the appends of one file in Apache Iceberg and, in tables with as many files, in iceberg-lite. */
  def peers(peers: Vector[PeerAppend], all: Vector[Measured], latencyMs: Long): Section = {
    val times = Vector(s"ms at $latencyMs ms, warm", "without metadata.json")
    val names = Vector("connector", "columns", "version", "reads", "writes") ++ times
    def row(connector: String, columns: Int, version: FormatVersion, requests: Vector[Long], times: Vector[Double]) =
      Vector(Text(connector), Count(columns.toLong), Text(s"v${version.number}")) ++ requests.map(Count) ++
        times.map(Number)
    val ours =
      for {
        m <- sorted(all) if m.files == PeerAppends.Files
        c <- m.commit(CommitKind.AppendOne)
        // The table metadata file is not one of the counted files.
      } yield row(
        "iceberg-lite",
        m.columns,
        m.version,
        Vector(c.warm.reads, c.warm.writtenFiles + 1),
        Vector(c.slowWarmMs, c.slowTreeMs)
      )
    val theirs = peers.map(p =>
      row("Apache Iceberg", p.columns, p.version, Vector(p.reads, p.writes), Vector(p.ms, p.treeMs))
    )
    Section(f"Appends of one file to tables of ${PeerAppends.Files}%,d files", names, theirs ++ ours)
  }

  def plans(all: Vector[Measured], latencyMs: Long): Section = {
    val names = Vector(
      "planned files",
      "manifests read",
      "requests",
      "bytes read",
      "ms, cold",
      "ms, warm",
      s"ms at $latencyMs ms, cold",
      "heap of the plan, MB"
    )
    val rows =
      for {
        kind <- PlanKind.all
        m <- sorted(all)
        p <- m.plan(kind)
      } yield Text(kind.name) +: (keyOf(m) ++ Vector(
        Count(p.tasks.toLong),
        Count(p.manifests),
        Count(p.requests),
        Count(p.readBytes),
        Number(p.coldMs),
        Number(p.warmMs),
        Number(p.slowMs),
        Number(p.heapBytes / 1e6)
      ))
    Section("Planning", Vector("predicate") ++ key ++ names, rows)
  }

  def histories(all: Vector[(FormatVersion, Int, HistorySizes)]): Section = Section(
    "Sizes after appends of one file each",
    Vector(
      "columns",
      "version",
      "commits",
      "s",
      "files",
      "bytes",
      "largest file, bytes",
      "newest metadata.json, bytes",
      "expiry, s",
      "files after expiry",
      "bytes after expiry"
    ),
    all.sortBy { case (version, columns, _) => (columns, version.number) }.map { case (version, columns, h) =>
      Vector(
        Count(columns.toLong),
        Text(s"v${version.number}"),
        Count(h.commits.toLong),
        Number(h.ms / 1000),
        Count(h.files),
        Count(h.bytes),
        Count(h.largestFile),
        Count(h.tableMetadataBytes),
        Number(h.expiryMs / 1000),
        Count(h.filesAfterExpiry),
        Count(h.bytesAfterExpiry)
      )
    }
  )

  /** Compares limits of the data files in the root. @param all the number of columns, the limit, and the sizes */
  def limits(all: Vector[(Int, Int, HistorySizes)]): Section = Section(
    "Limits of data files in the root",
    Vector(
      "columns",
      "data files in the root",
      "commits",
      "s",
      "files",
      "bytes",
      "bytes per commit",
      "largest file, bytes",
      "files after expiry",
      "bytes after expiry"
    ),
    all.map { case (columns, limit, h) =>
      Vector(columns.toLong, limit.toLong, h.commits.toLong).map(Count) ++ Vector(Number(h.ms / 1000)) ++
        Vector(h.files, h.bytes, h.bytes / h.commits, h.largestFile, h.filesAfterExpiry, h.bytesAfterExpiry).map(Count)
    }
  )

  def vectors(all: Vector[VectorSizes]): Section = Section(
    f"Deletion vectors of leaves, ${VectorSizes.Files}%,d files",
    Vector(
      "columns",
      "removed files",
      "vectors in",
      "bytes of the removal",
      s"bytes of each of ${VectorSizes.Appends} appends",
      "files of the appends",
      "requests of a cold plan",
      "bytes of the plan"
    ),
    all.map { v =>
      Vector(Count(v.columns.toLong), Count(v.removed.toLong), Text(if (v.inline) "the root" else "Puffin files")) ++
        Vector(v.removalBytes, v.appendBytes, v.appendFiles, v.planRequests, v.planBytes).map(Count)
    }
  )

  /** Returns measured and predicted bytes of commits. @param models the models by version and number of columns */
  def predictions(all: Vector[Measured], models: Map[(FormatVersion, Int), CostModel], files: Double): Section = {
    val kinds = Vector(CommitKind.AppendOne, CommitKind.DeleteOne, CommitKind.DeleteRandom)
    val measured = for {
      kind <- kinds
      m <- sorted(all)
      model <- models.get((m.version, m.columns))
      cost <- m.commit(kind)
      bytes <- model.bytes(kind, m.files.toDouble)
    } yield {
      val written = cost.warm.writtenBytes
      Text(kind.name) +: (keyOf(m) ++ Vector(Count(written), Number(bytes), Number(bytes / written)))
    }
    val predicted =
      for {
        kind <- kinds
        ((version, columns), model) <- models.toVector.sortBy(m => (m._1._2, m._1._1.number))
        bytes <- model.bytes(kind, files)
      } yield Vector(
        Text(kind.name),
        Count(columns.toLong),
        Count(files.toLong),
        Text(s"v${version.number}"),
        Text(""),
        Number(bytes),
        Text("")
      )
    val names = Vector("commit") ++ key ++ Vector("bytes measured", "bytes predicted", "predicted / measured")
    Section("Cost model", names, measured ++ predicted)
  }

  def parameters(models: Map[(FormatVersion, Int), CostModel]): Section = Section(
    "Parameters of the cost model",
    Vector("columns", "version", "parameters"),
    models.toVector.sortBy(m => (m._1._2, m._1._1.number)).map { case ((version, columns), model) =>
      Vector(Count(columns.toLong), Text(s"v${version.number}"), Text(model.parameters))
    }
  )

  def goals(all: Vector[Goal]): Section = Section(
    "Goals",
    Vector("goal", "columns", "measured", "met"),
    all.map(g => Vector(Text(g.name), Count(g.columns.toLong), Text(g.measured), Text(if (g.isMet) "yes" else "no")))
  )
}
