package iceberglite

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit.NANOSECONDS

import scala.util.{Random, Try}

import iceberglite.spec.IcebergError

/**
 * Generates damaged input for parsers, and determines the number of rounds of random tests. [[Sampling]] describes the
 * fast and the slow tier of tests. Every run generates the same damage, unless environment variables change it:
 *
 * - `ICEBERG_LITE_FUZZ` multiplies the number of rounds (`make fuzz` sets 200),
 * - `ICEBERG_LITE_SEED` is the seed of the random generator.
 */
object Fuzz {
  private val SlowSeconds = 10L
  private val DefaultSeed = 20240229L

  private val multiplier: Int = env("ICEBERG_LITE_FUZZ").fold(1)(_.toInt)

  val seed: Long = env("ICEBERG_LITE_SEED").fold(DefaultSeed)(_.toLong)

  /**
   * Returns the number of rounds of a test. In the slow tier, it is `normal`, multiplied by `ICEBERG_LITE_FUZZ`. In the
   * fast tier, it is an eighth of `normal`, but at least the smaller of `normal` and `least`.
   */
  def rounds(normal: Int, least: Int = 1): Int =
    if (Sampling.isFast) math.max(math.min(normal, least), normal / 8) else normal * multiplier

  /**
   * Returns the number of rounds of a test in which one round takes seconds. In the slow tier, it is half of `normal`,
   * and in `make nightly` it is `normal`, multiplied by a twentieth of `ICEBERG_LITE_FUZZ`, but at least `normal`. In
   * the fast tier, it is the smaller of `normal` and `least`.
   */
  def slowRounds(normal: Int, least: Int = 1): Int =
    if (Sampling.isFast) math.min(normal, least)
    else if (Sampling.isOff || multiplier > 1) normal * math.max(1, multiplier / 20)
    else (normal + 1) / 2

  /**
   * Calls `read` with one damaged input after another. Each call must return a value or throw an [[IcebergError]], in
   * bounded time.
   *
   * @param parser the name of the parser in failure messages
   * @param normal the number of rounds in the slow tier, without environment variables (see [[rounds]])
   * @param damage creates the input of a round
   */
  def run[A](parser: String, normal: Int)(damage: Random => A)(read: A => Any): Unit =
    (0 until rounds(normal)).foreach { round =>
      val random = new Random(seed ^ parser.hashCode.toLong ^ (round.toLong << 32))
      check(parser, round, damage(random))(read)
    }

  /** Calls `read` with bytes that [[mutate]] has damaged. Each round damages one of the valid inputs. */
  def bytes(parser: String, normal: Int, valid: IndexedSeq[Array[Byte]])(read: Array[Byte] => Any): Unit = {
    accepted(parser, valid)(read)
    run(parser, normal)(random => mutate(valid(random.nextInt(valid.size)), random))(read)
  }

  /** Calls `read` with JSON that [[mutateJson]] has damaged. Each round damages one of the valid inputs. */
  def json(parser: String, normal: Int, valid: IndexedSeq[String])(read: String => Any): Unit = {
    accepted(parser, valid)(read)
    run(parser, normal)(random => mutateJson(valid(random.nextInt(valid.size)), random))(read)
  }

  /** Checks that the parser accepts at least one valid input. A parser that rejects all input would pass the test. */
  private def accepted[A](parser: String, valid: Seq[A])(read: A => Any): Unit =
    if (!valid.exists(input => Try(read(input)).isSuccess)) {
      throw new AssertionError(s"$parser: the parser rejects every input, even valid input such as ${show(valid.head)}")
    }

  private def check[A](parser: String, round: Int, input: A)(read: A => Any): Unit = {
    // CPU time is measured, because the machine may run other processes.
    val start = ManagementFactory.getThreadMXBean.getCurrentThreadCpuTime
    try read(input)
    catch {
      case _: IcebergError => ()
      case e: Throwable =>
        throw new AssertionError(s"$parser: round $round ${seeded(e.toString)}; input ${show(input)}", e)
    }
    val seconds = NANOSECONDS.toSeconds(ManagementFactory.getThreadMXBean.getCurrentThreadCpuTime - start)
    if (seconds >= SlowSeconds) {
      throw new AssertionError(s"$parser: round $round ${seeded(s"took $seconds s")}; input ${show(input)}")
    }
  }

  private def seeded(outcome: String): String = s"of ICEBERG_LITE_SEED=$seed: $outcome"

  private def show(input: Any): String = input match {
    case bytes: Array[Byte] => bytes.take(4096).map(b => f"$b%02x").mkString
    case other => other.toString.take(8192)
  }

  private def env(name: String): Option[String] = sys.env.get(name).filter(_.nonEmpty)

  /**
   * Applies one to four changes. A change flips a bit, sets, removes, inserts, repeats or copies bytes, truncates the
   * input, or writes a huge number.
   */
  def mutate(bytes: Array[Byte], random: Random): Array[Byte] =
    (0 to random.nextInt(4)).foldLeft(bytes.clone())((changed, _) => mutateOnce(changed, random))

  private def mutateOnce(bytes: Array[Byte], random: Random): Array[Byte] =
    if (bytes.isEmpty) randomBytes(random)
    else {
      val index = random.nextInt(bytes.length)
      val part = bytes.slice(index, index + 1 + random.nextInt(64))
      random.nextInt(9) match {
        case 0 => bytes.updated(index, (bytes(index) ^ (1 << random.nextInt(8))).toByte)
        case 1 | 2 => bytes.updated(index, random.nextInt().toByte)
        case 3 => bytes.take(index)
        case 4 => bytes.patch(index, Nil, part.length)
        case 5 => bytes.patch(index, randomBytes(random), 0)
        case 6 => bytes.patch(index, part, 0)
        case 7 => bytes.patch(random.nextInt(bytes.length), part, part.length)
        case _ => spliced(bytes, index, hugeNumbers(random.nextInt(hugeNumbers.size)), random.nextBoolean())
      }
    }

  private def spliced(bytes: Array[Byte], index: Int, part: Array[Byte], overwrite: Boolean): Array[Byte] =
    bytes.patch(index, part, if (overwrite) part.length else 0)

  private def randomBytes(random: Random): Array[Byte] = {
    val bytes = new Array[Byte](1 + random.nextInt(32))
    random.nextBytes(bytes)
    bytes
  }

  /** Numbers that are implausible as lengths: varints for both plain and zigzag readers, and fixed-size integers. */
  private val hugeNumbers: IndexedSeq[Array[Byte]] = {
    val fixed = for (fill <- Seq(0xff, 0x7f, 0x80, 0x00); size <- Seq(4, 8)) yield {
      val bytes = Array.fill(size)(if (fill == 0x00) 0x00.toByte else 0xff.toByte)
      bytes(0) = fill.toByte
      Seq(bytes, bytes.reverse)
    }
    val longs = Seq(Long.MaxValue, Long.MinValue, -1L, -2L, Int.MaxValue.toLong, Int.MaxValue * 2L, 1L << 31, 1L << 62)
    (fixed.flatten ++ longs.map(varint)).toIndexedSeq
  }

  /** Encodes a number in groups of seven bits, the lowest group first. */
  def varint(value: Long): Array[Byte] = {
    val groups = Iterator.iterate(value)(_ >>> 7).takeWhile(_ != 0).map(v => (v & 0x7f | 0x80).toByte).toArray
    if (groups.isEmpty) Array(0.toByte) else groups.updated(groups.length - 1, (groups.last & 0x7f).toByte)
  }

  private val Token = """"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[\[\]{}:,]""".r

  private val junk: IndexedSeq[String] = IndexedSeq(
    "null",
    "true",
    "-1",
    "0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "2147483648",
    "1.5",
    "1e400",
    "1e999999999",
    "\"\"",
    "\"x\"",
    "\"-1\"",
    "\"int\"",
    "\"bucket[0]\"",
    "\"bucket[99999999999]\"",
    "\"decimal(99,99)\"",
    "\"fixed[99999999999]\"",
    "\"fixed[2147483647]\"",
    "\"struct\"",
    "\"\\ud800\"",
    "{}",
    "[]",
    "[[]]",
    "{",
    "]",
    ",",
    "NaN",
    "1" * 2000,
    "[" * 2000,
    "{\"a\":" * 2000
  )

  /** Applies one to three changes: replaces, drops or repeats a token, cuts the text, or damages its bytes. */
  def mutateJson(json: String, random: Random): String =
    (0 to random.nextInt(3)).foldLeft(json)((changed, _) => mutateJsonOnce(changed, random))

  private def mutateJsonOnce(json: String, random: Random): String = {
    val tokens = Token.findAllMatchIn(json).map(m => (m.start, m.end)).toIndexedSeq
    if (tokens.isEmpty) junk(random.nextInt(junk.size))
    else {
      val (start, end) = tokens(random.nextInt(tokens.size))
      val (otherStart, otherEnd) = tokens(random.nextInt(tokens.size))
      def instead(text: String): String = json.take(start) + text + json.drop(end)
      random.nextInt(8) match {
        case 0 | 1 | 2 => instead(junk(random.nextInt(junk.size)))
        case 3 => instead("")
        case 4 => instead(json.substring(start, end) * 2)
        case 5 => instead(json.substring(otherStart, otherEnd))
        case 6 => json.take(start)
        case _ => new String(mutate(json.getBytes(UTF_8), random), UTF_8)
      }
    }
  }
}
