import com.dynatrace.hash4j.similarity.ElementHashProvider;
import com.dynatrace.hash4j.similarity.SimilarityHashPolicy;
import com.dynatrace.hash4j.similarity.SimilarityHashing;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Measures hash4j on the sets of a file: a line has the library, a task and the ns of CPU for each set. */
public class Peers {
  static final int SIZE = 1000;

  public static void main(String[] args) throws Exception {
    var numbers = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0]))).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
    var sets = new long[numbers.remaining() / SIZE][SIZE];
    for (var set : sets) {
      numbers.get(set);
    }
    measure("hash4j", "minhash", sets, SimilarityHashing.minHash(128, 32));
    measure("hash4j, superMinHash", "minhash", sets, SimilarityHashing.superMinHash(128, 32));
    measure("hash4j", "simhash", sets, SimilarityHashing.simHash(64));
    measure("hash4j, fastSimHash", "simhash", sets, SimilarityHashing.fastSimHash(64));
  }

  /** The least of five rounds, since the first ones are not compiled. */
  static void measure(String name, String task, long[][] sets, SimilarityHashPolicy policy) {
    var hasher = policy.createHasher();
    var thread = ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 5; round++) {
      long begun = thread.getCurrentThreadCpuTime();
      for (var set : sets) {
        hasher.compute(ElementHashProvider.ofValues(set));
      }
      least = Math.min(least, thread.getCurrentThreadCpuTime() - begun);
    }
    System.out.printf("%s\t%s\t%.1f%n", name, task, (double) least / sets.length);
  }
}
