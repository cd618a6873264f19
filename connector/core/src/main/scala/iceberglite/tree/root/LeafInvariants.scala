package iceberglite.tree.root

import iceberglite.spec.file.{EntryStatus, ManifestEntry}
import iceberglite.spec.types.Literal
import iceberglite.tree.{CloseableIterator, TreeTable, TreeViolation}

/**
 * Checks the rules (see [[TreeInvariants]]) about a leaf manifest and the files that it lists.
 *
 * @param files the files of the snapshot that has the leaf
 */
final private[root] class LeafInvariants(
    leaf: LeafPart,
    files: RootFiles,
    table: TreeTable,
    partitions: PartitionInvariants
) {
  private val converter = new EntryFiles(files.columns)
  private val isCarriedOver = leaf.leaf.version.status != EntryStatus.Added

  def violations: Vector[TreeViolation] = tightBounds ++ RootManifests.guard(leaf.path)(ofEntries)

  private def check(rule: String, isViolated: Boolean, reason: => String): Vector[TreeViolation] =
    if (isViolated) Vector(TreeViolation(rule, reason)) else Vector.empty

  /** I7: if files of a leaf are removed, its bounds may be wider than the values of the remaining files. */
  private def tightBounds: Vector[TreeViolation] = {
    val tight = leaf.leaf.stats.byId.collect { case (id, stats) if stats.tight.contains(true) => id }.toVector.sorted
    check(
      "I7",
      !leaf.vector.isEmpty && tight.nonEmpty,
      s"The bounds of the columns ${tight.mkString(", ")} of ${leaf.path} are stated to be tight, although its " +
        "deletion vector removes files"
    )
  }

  /**
   * I7: the counts of a leaf equal the numbers of its entries, and its statistics are those of its files (see
   * [[LeafTotals]]). I8: see [[PartitionInvariants]]. I11: a leaf that is carried over lists no file that the snapshot
   * adds.
   */
  private def ofEntries: Vector[TreeViolation] = {
    val found = Vector.newBuilder[TreeViolation]
    var count = 0
    def add(violations: Vector[TreeViolation]): Unit = if (count < TreeInvariants.MaxViolations) {
      found ++= violations
      count += violations.size
    }
    val totals = new LeafTotals(leaf)
    var position = -1L
    val counted = LeafManifestWriter.count(
      entries.map { case (e, file) =>
        position += 1
        val isRemoved = leaf.vector.isDeleted(position)
        add(totals.add(e, isRemoved))
        if (!isRemoved) add(partitions.violations((e, file)))
        add(newFile(e))
        e
      },
      leaf.sequenceNumber
    )
    (counts(counted) ++ totals.violations ++ found.result()).take(TreeInvariants.MaxViolations)
  }

  /** Returns all entries of the leaf, each as an entry of version 4 and as a [[ManifestEntry]]. */
  private def entries: CloseableIterator[(ContentEntry, ManifestEntry)] =
    if (leaf.isColumnar) leaf.storedEntries(table.io).map(e => e -> converter.toEntry(e))
    else leaf.allEntries(table.io).map { e =>
      val converted = converter.toContent(e)
      converted.copy(recordCount = math.max(0L, converted.recordCount)) -> e
    }

  private def newFile(e: ContentEntry): Vector[TreeViolation] = check(
    "I11",
    isCarriedOver && files.isChange(leaf.inherit(e)),
    s"The manifest ${leaf.path} has the status existing, but lists ${e.location}, which the snapshot adds"
  )

  private def counts(counted: ManifestStats): Vector[TreeViolation] = {
    val stated = leaf.stats.copy(minSequenceNumber = counted.minSequenceNumber)
    check("I7", stated != counted, s"The counts of ${leaf.path} differ from $counted")
  }
}

/**
 * Computes the statistics of a leaf from those of its live entries, and compares them with the statistics in the root
 * (rule I7):
 *
 *  - The bounds of the leaf contain the bounds of each file. If they are stated to be tight, they are bounds of a file.
 *  - The numbers of values, nulls and NaNs are the sums of those of the files. If a deletion vector removes files, they
 *    may also be smaller by the numbers of these files, because other writers may omit the removed files.
 *  - The minimum sequence number is that of the files. Manifests of earlier versions may state a lower number.
 */
final private class LeafTotals(leaf: LeafPart) {
  private val columns = leaf.leaf.stats.byId.toVector.map { case (id, stats) => new ColumnTotals(id, stats) }
  private var oldest, oldestRemaining = Option.empty[Long]

  /** Adds an entry. Returns the violations that concern only this entry. */
  def add(e: ContentEntry, isRemoved: Boolean): Vector[TreeViolation] =
    if (!e.isLive) Vector.empty
    else {
      val number = e.version.sequenceNumber.getOrElse(leaf.sequenceNumber)
      oldest = Some(oldest.fold(number)(math.min(_, number)))
      if (!isRemoved) oldestRemaining = Some(oldestRemaining.fold(number)(math.min(_, number)))
      columns.filterNot(_.add(e.stats, isRemoved)).map(column =>
        TreeViolation(
          "I7",
          s"The statistics of the column ${column.id} of ${leaf.path} do not contain those of ${e.location}"
        )
      )
    }

  /** Returns the violations that concern the whole leaf. */
  def violations: Vector[TreeViolation] = columns.flatMap(_.difference).map(difference =>
    TreeViolation("I7", s"$difference in ${leaf.path}")
  ) ++ sequenceNumber.map(TreeViolation("I7", _))

  private def sequenceNumber: Option[String] = {
    val stated = leaf.minSequenceNumber
    if (oldestRemaining.exists(stated > _))
      Some(s"The minimum sequence number of ${leaf.path} exceeds ${oldestRemaining.mkString}")
    else oldest.filter(leaf.isColumnar && stated < _).map(number =>
      s"The minimum sequence number of ${leaf.path} is $stated, but that of its files is $number"
    )
  }
}

/** The statistics of a column or expression in a leaf. @param stated the statistics in the root */
final private class ColumnTotals(val id: Int, stated: FieldStats) {
  private val order = Literal.ordering

  // The bounds of an expression with an unknown transform may have different types in the root and in the leaf.
  private def isAtMost(a: Literal, b: Literal): Boolean = (a.getClass eq b.getClass) && order.lteq(a, b)

  private val counts = Vector(
    new CountTotal("values", _.valueCount),
    new CountTotal("nulls", _.nullCount),
    new CountTotal("NaN values", _.nanCount)
  )
  private var lowest, highest = Option.empty[Literal]

  /** Adds the statistics of a live file. Returns whether the bounds in the root contain those of the file. */
  def add(stats: ContentStats, isRemoved: Boolean): Boolean = {
    val file = stats.get(id).getOrElse(FieldStats.Empty)
    counts.foreach(_.add(file, isRemoved))
    val upper = file.upper.orElse(file.lower)
    lowest = (lowest ++ file.lower).reduceOption(order.min(_, _))
    highest = (highest ++ upper).reduceOption(order.max(_, _))
    val isWithinLower = stated.lower.forall(l => file.hasNoOrdinaryValues || file.lower.exists(isAtMost(l, _)))
    val isWithinUpper = stated.upper.forall(u => file.hasNoOrdinaryValues || upper.exists(isAtMost(_, u)))
    isWithinLower && isWithinUpper && stated.maxSize.forall(n => file.maxSize.exists(_ <= n))
  }

  /** Returns the difference between the statistics in the root and those of all files; absent if there is none. */
  def difference: Option[String] =
    counts.filterNot(_.isAllowed(stated)).map(c => s"The number of ${c.name} of the column $id differs from ${c.sum}")
      .headOption.orElse(looseBound)

  private def looseBound: Option[String] = {
    def differs(bound: Option[Literal], found: Option[Literal]) =
      bound.exists(b => !found.exists(f => isAtMost(b, f) && isAtMost(f, b)))
    if (stated.tight.contains(true) && (differs(stated.lower, lowest) || differs(stated.upper, highest)))
      Some(s"The bounds of the column $id are stated to be tight, but are not bounds of a file")
    else None
  }
}

/** The sum of a count over the live entries of a leaf, and over those that no deletion vector removes. */
final private class CountTotal(val name: String, of: FieldStats => Option[Long]) {
  private var all, remaining = Option(0L)

  def add(file: FieldStats, isRemoved: Boolean): Unit = {
    all = for (total <- all; n <- of(file)) yield total + n
    if (!isRemoved) remaining = for (total <- remaining; n <- of(file)) yield total + n
  }

  /** The sum, for messages. */
  def sum: String = all.fold("that of the files, which is unknown")(_.toString)

  def isAllowed(leaf: FieldStats): Boolean =
    of(leaf).forall(n => all.exists(n <= _) && remaining.exists(n >= _))
}
