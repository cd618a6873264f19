package iceberglite.spark.sql

/**
 * The optional clauses of `CREATE TABLE ... LIKE`.
 *
 * @param provider the name after USING
 */
final case class LikeClauses(
    provider: Option[String] = None,
    location: Option[String] = None,
    properties: Map[String, String] = Map.empty
)

private[sql] object LikeClauses {

  /** Parses the clauses, which may be in any order. */
  def read(reader: SqlReader): LikeClauses = read(reader, LikeClauses(), Set.empty)

  private def read(reader: SqlReader, parsed: LikeClauses, done: Set[String]): LikeClauses =
    words.find(w => reader.skip(w)) match {
      case Some(word) if done(word) =>
        reader.failAt(reader.last, s"only one clause $word is allowed; remove one of them")
      case Some(word) => read(reader, clause(word, reader, parsed), done + word)
      case None => parsed
    }

  /** Whether a clause of Hive tables is next. */
  def isHiveNext(reader: SqlReader): Boolean = hiveClauses.exists(reader.peek.isWord)

  /** Rejects a clause of Hive tables, which Spark's own statement has. */
  def rejectHive(reader: SqlReader): Unit =
    if (isHiveNext(reader)) reader.fail("STORED AS and ROW FORMAT are for Hive tables; write USING iceberg")

  private val words: Seq[String] = Seq("USING", "LOCATION", "TBLPROPERTIES")
  private val hiveClauses: Seq[String] = Seq("STORED", "ROW")

  private def clause(word: String, reader: SqlReader, parsed: LikeClauses): LikeClauses = word match {
    case "USING" => parsed.copy(provider = Some(reader.multipart("the name of a table provider").mkString(".")))
    case "LOCATION" =>
      parsed.copy(location = Some(reader.textIfAny().getOrElse(reader.fail("expected a location in quotes"))))
    case _ => parsed.copy(properties = OptionList.read(reader).values)
  }
}
